// limit: time
/(a+)+$/.test("a".repeat(64000) + "b");
