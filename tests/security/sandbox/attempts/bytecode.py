# Bytecode that CPython does not check: it may crash the interpreter, and nothing else.
def f(): pass
code = f.__code__.replace(co_code=bytes([124, 255, 100, 255, 83, 0]) * 20, co_consts=(), co_names=(), co_stacksize=0)
try:
    exec(code)
except BaseException as e:
    print(type(e).__name__)
