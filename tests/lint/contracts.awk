# contracts.awk: headers explain what they export; types and state are visible
# for what they are.
function begin_() {
	explained = 0
	header = FILENAME ~ /\.h$/ && FILENAME !~ /^\.\/tests\/[^k]/
	# Tests run in processes of their own; the log has one state by nature, and
	# fibers have one for each thread.
	stateful = FILENAME ~ /^\.\/tests\// ||
	    FILENAME == "./libs/core/log.c" || FILENAME == "./libs/core/fiber.c"
}
# Whether the declarations that follow this line without an empty one have a
# comment above them.
function line_(s) {
	if ($0 ~ /^[ \t]*$/)
		explained = 0
	else if ($0 ~ /\*\/[ \t]*$/ && s ~ /^[ \t]*$/)
		explained = 1
	if (s ~ /typedef[ \t]+(struct|union|enum)/ && s !~ /\(\*/)
		complain(FNR, "typedef of a struct, union or enum; write the " \
		    "tag where it is used")
	if (!stateful && s ~ /^[ \t]+static / && mutable(s))
		complain(FNR, "static variable in a function; keep state in " \
		    "a struct")
}
# Whether a variable declared as s can be written.
function mutable(s) {
	sub(/ *=.*/, "", s)
	if (s ~ /^[ \t]*static struct log_rate /)
		return 0 # core/log.h wants it so
	if (match(s, /\(/)) # a function, unless it is a pointer to one
		return substr(s, RSTART, 2) == "(*" && s !~ /^[^(]*\(\* *const/
	if (s ~ /\*/) {
		sub(/.*\*/, "", s)
		return s !~ /^ *const /
	}
	return s !~ /(^| )const /
}
function body_(name, n) { }
function decl_(s, from, kind,    name) {
	name = function_name(s)
	if (header && !explained && kind != "=" && name != "" &&
	    name !~ /^(TAILQ|SLIST|STAILQ|LIST)_|^__attribute__$|^_Static/)
		complain(from, name "() has no comment above it; say what it " \
		    "does, its units, ownership, failure, bounds")
	sub(/[ \t]*__attribute__\(\(.*\)\)/, "", s)
	# A type whose body was removed is left as "struct x".
	if (stateful || kind == "{" || s ~ /^(extern|typedef|_Static_assert)/ ||
	    s ~ /^[A-Z_]+\(/ || s ~ /^(struct|enum|union)( [A-Za-z0-9_]+)?[ \t]*$/)
		return
	if (mutable(s))
		complain(from, "variable at file scope that can be written; " \
		    "keep state in a struct, or make it const")
}
