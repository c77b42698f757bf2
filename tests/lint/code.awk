# code.awk: C without comments and without what is in literals.

# The code of a line; in_comment lasts from line to line.
function code(s,    out, i, c, n, q) {
	if (!in_comment && s !~ /["'\/]/)
		return s
	n = length(s)
	out = ""
	for (i = 1; i <= n; i++) {
		c = substr(s, i, 1)
		if (in_comment) {
			if (c == "*" && substr(s, i + 1, 1) == "/") {
				in_comment = 0
				i++
			}
		} else if (c == "/" && substr(s, i + 1, 1) == "*") {
			in_comment = 1
			i++
		} else if (c == "/" && substr(s, i + 1, 1) == "/") {
			break
		} else if (c == "\"" || c == "'") {
			for (q = c; ++i <= n; ) {
				c = substr(s, i, 1)
				if (c == "\\")
					i++
				else if (c == q)
					break
			}
			out = out q q
		} else
			out = out c
	}
	return out
}
