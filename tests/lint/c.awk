# c.awk: what the rules in awk share: lines, the declarations at the outermost
# level and function bodies of C in the house layout (clang-format).
#
# A rule defines  line_(s)              each line, s without comments/literals
#                 decl_(s, from, kind)  each outermost declaration as one line
#                                       of text; kind is what ended it: ; { =
#                 body_(name, n)        each function body of n lines
#                 begin_()              a new file
# and calls complain(line, what).

function complain(line, what) {
	printf "%s:%d: %s\n", FILENAME, line, what
	bad = 1
}

# The name of the function that text declares, "" if it is none.
function function_name(text) {
	if (text ~ /^typedef|^struct [A-Za-z0-9_]+ *$|^enum|^union/ ||
	    !match(text, /[A-Za-z_][A-Za-z0-9_]*\(/))
		return ""
	return substr(text, RSTART, RLENGTH - 1)
}

function outermost(s,    i, c, n, name) {
	if (preprocessor || s ~ /^[ \t]*#/) {
		preprocessor = (s ~ /\\$/)
		return
	}
	if (depth > 0 && s == "}" && in_function) {
		name = function_name(text)
		if (name ~ /^[A-Z_]+$/) { # TEST(name)
			name = substr(text, index(text, "(") + 1)
			sub(/[,)].*/, "", name)
		}
		body_(name, FNR - opened + 1)
		in_function = 0
	}
	n = length(s)
	for (i = 1; i <= n; i++) {
		c = substr(s, i, 1)
		if (c == "}") {
			if (--depth == 0 && s ~ /^}$/)
				text = ""
		} else if (c == "{") {
			if (depth++ == 0) {
				if (s == "{") {
					opened = FNR
					in_function = 1
				}
				decl_(text, from, text ~ /= *$/ ? "=" : "{")
			}
		} else if (depth == 0 && c == ";") {
			if (text !~ /^[ \t]*$/)
				decl_(text, from, ";")
			text = ""
		} else if (depth == 0) {
			if (text == "") {
				if (c == " " || c == "\t")
					continue
				from = FNR
			}
			text = text c
		}
	}
	if (depth == 0 && text != "")
		text = text " "
}

FNR == 1 {
	in_comment = preprocessor = depth = in_function = 0
	text = ""
	begin_()
}
{
	stripped = code($0)
	line_(stripped)
	sub(/[ \t]+$/, "", stripped)
	outermost(stripped)
}
END { exit bad }
