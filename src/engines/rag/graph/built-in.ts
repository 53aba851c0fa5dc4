/** Members that the languages' own libraries have: a use of one tells nothing about whose it is. */
export const BUILT_IN_MEMBERS: ReadonlySet<string> = new Set(
  `length size name message stack code cause value values key keys entries get set has add delete clear push pop shift unshift
splice slice concat join reverse sort map filter reduce find findIndex some every includes indexOf forEach flat flatMap fill at
charAt charCodeAt split replace replaceAll match matchAll search test exec trim trimStart trimEnd startsWith endsWith padStart
padEnd repeat toLowerCase toUpperCase substring substr toString valueOf toJSON then catch finally call apply bind next return throw
done on off once emit write read end close open pipe log error warn info debug trace json text blob arrayBuffer formData body
headers status statusText ok url method clone append index input source flags type data id parse stringify assign create from
of is max min round floor random now raw abort signal aborted reason resolve reject all race any run start stop format items lower upper strip
copy update extend insert remove count encode decode readline readlines isdigit sum len str String Error Close Read Write Len New
equals hashCode compareTo toArray isEmpty contains put iter unwrap expect ok_or into as_str to_string is_some is_none is_ok is_err
is_empty each empty new to_s to_i to_a to_h inspect freeze first last begin back front data c_str push_back emplace_back size_t
Add Remove Contains Count Length ToString Equals GetHashCode Dispose Select Where First Any ToList ToArray path file line args options
default props children state ref style className href target context config request response result params query`
    .split(/\s+/)
    .filter((word) => word !== ""),
);
