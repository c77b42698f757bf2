# embed.awk: expand the Lua scripts and embed them in C.
#
# usage: awk -v out=FOLDER -f embed.awk keys.h rc.h SCRIPT.lua…
#
# Writes out/scripts.h and out/scripts.c, where each SCRIPT.lua is a struct
# state_script called script_SCRIPT with the SHA-1 of its text, and the same text
# as out/lua/SCRIPT.lua.
#
# A line "--@include lib_NAME" stands for the lines of lib_NAME.lua, the first
# time in a script.  A line "--@idempotent" says that executing it twice leaves and
# replies the same as executing it a single time, so that it may be repeated when
# its outcome is unknown.  A name in capitals is a constant: a macro of keys.h whose
# value is one string or one number, or a code of enum rc; in double quotes it is
# the number's text, which costs Redis less as an argument of a command.  Comments
# of their own line are left out.
function fail(script, why) {
	printf "%s.lua: %s\n", script, why >"/dev/stderr"
	failed = 1
	exit 1
}
FNR == 1 {
	name = FILENAME
	gsub(/^.*\/|[.][a-z]*$/, "", name)
	is_lua = FILENAME ~ /[.]lua$/
	if (is_lua)
		names[++n_names] = name
}
is_lua { text[name, ++len[name]] = $0; next }
# Macros may continue on the next line; those are no constants of scripts.
$1 == "#define" && NF >= 3 {
	value = $0
	sub(/^#define[ \t]+[A-Z0-9_]+[ \t]+/, "", value)
	if (value ~ /^"[^"]*"$/)
		constant[$2] = "'" substr(value, 2, length(value) - 2) "'"
	else if (value ~ /^[0-9]+$/)
		constant[$2] = value
}
/^enum rc \{/ { in_rc = 1; next }
in_rc && /^}/ { in_rc = 0 }
in_rc && match($0, /RC_[A-Z]+/) {
	constant[substr($0, RSTART, RLENGTH)] = n_rc++
}
# The line with its constants replaced; other strings stay as they are.
function constants(script, s,    result, token) {
	result = ""
	while (match(s, /'[^']*'|"[^"]*"|[A-Za-z_][A-Za-z0-9_]*/)) {
		token = substr(s, RSTART, RLENGTH)
		result = result substr(s, 1, RSTART - 1)
		s = substr(s, RSTART + RLENGTH)
		if (token ~ /^[A-Z][A-Z0-9_]*$/ && token !~ /^(KEYS|ARGV)$/) {
			if (!(token in constant))
				fail(script, "no such constant: " token)
			token = constant[token]
		} else if (token ~ /^"[A-Z][A-Z0-9_]*"$/) {
			token = substr(token, 2, length(token) - 2)
			if (constant[token] !~ /^[0-9]+$/)
				fail(script, "no such number: " token)
			token = "'" constant[token] "'"
		}
		result = result token
	}
	return result s
}
function put(script, line,    c) {
	print line >lua
	c = line
	gsub(/\\/, "&&", c)
	gsub(/"/, "\\\"", c)
	print "\t\"" c "\\n\"" >source
}
function digest(file,    cmd, words) {
	close(file)
	cmd = "sha1sum '" file "'"
	if ((cmd | getline words) <= 0 || words !~ /^[0-9a-f]+ /)
		fail(file, "sha1sum failed")
	close(cmd)
	return substr(words, 1, 40)
}
function expand(script, piece,    i, line, lib) {
	if (!((piece, 1) in text))
		fail(script, "no such piece: " piece)
	for (i = 1; i <= len[piece]; i++) {
		line = text[piece, i]
		if (line ~ /^--@include /) {
			lib = substr(line, 12)
			if (!((script, lib) in included)) {
				included[script, lib] = 1
				expand(script, lib)
			}
		} else if (line == "--@idempotent" && piece == script) {
			idempotent[script] = 1
		} else if (line !~ /^[ \t]*(--.*)?$/) {
			code[++n_code] = constants(script, line)
		}
	}
}
# How many lines contain the name as a word.
function uses(name,    i, n) {
	n = 0
	for (i = 1; i <= n_code; i++)
		n += (" " code[i] " ") ~ ("[^A-Za-z0-9_]" name "[^A-Za-z0-9_]")
	return n
}
# Leave out the functions of libraries that the script does not use: each would be
# made anew whenever it runs.
function drop_unused(    i, name, dropped) {
	do {
		dropped = 0
		for (i = 1; i <= n_code; i++) {
			if (code[i] !~ /^local function /)
				continue
			name = code[i]
			gsub(/^local function |[(].*$/, "", name)
			if (uses(name) > 1)
				continue
			dropped = 1
			while (code[i] != "end")
				code[i++] = ""
			code[i] = ""
		}
	} while (dropped)
}
function put_script(script,    i) {
	n_code = 0
	expand(script, script)
	drop_unused()
	for (i = 1; i <= n_code; i++)
		if (code[i] != "")
			put(script, code[i])
}
END {
	if (failed)
		exit 1
	header = out "/scripts.h"
	source = out "/scripts.c"
	print "/* Generated from libs/state/scripts by embed.awk. */" >header
	print "#ifndef STATE_SCRIPTS_H\n#define STATE_SCRIPTS_H\n" >header
	print "#include \"state/state.h\"\n" >header
	print "/* Generated from libs/state/scripts by embed.awk. */" >source
	print "#include \"state/scripts.h\"\n" >source
	print "#pragma GCC diagnostic ignored \"-Woverlength-strings\"" >source
	for (k = 1; k <= n_names; k++) {
		if (names[k] ~ /^lib_/)
			continue
		lua = out "/lua/" names[k] ".lua"
		print "extern const struct state_script script_" names[k] ";" >header
		print "\nconst struct state_script script_" names[k] " = {" >source
		put_script(names[k])
		print "\t,\"" digest(lua) "\"," >source
		print "\t" (names[k] in idempotent ? "true" : "false") >source
		print "};" >source
		list = list "\t&script_" names[k] ",\n"
		n_scripts++
	}
	print "\n/* All of them. */" >header
	print "#define STATE_SCRIPTS " n_scripts >header
	print "extern const struct state_script *const " \
	    "state_scripts[STATE_SCRIPTS];" >header
	print "\nconst struct state_script *const " \
	    "state_scripts[STATE_SCRIPTS] = {\n" list "};" >source
	print "\n#endif /* !STATE_SCRIPTS_H */" >header
}
