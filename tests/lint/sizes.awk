# sizes.awk: how long lines, functions and files may be, how many parameters.
function begin_() { limit = FILENAME ~ /\/main\.c$/ ? 60 : 1000 }
function width(s,    n, i) {
	gsub(/[\200-\277]/, "", s) # bytes that continue a code point
	while ((i = index(s, "\t")) > 0)
		s = substr(s, 1, i - 1) substr("        ", 1 + (i - 1) % 8) \
		    substr(s, i + 1)
	return length(s)
}
function line_(s) {
	if (FNR == limit + 1)
		complain(FNR, "the file is longer than " limit \
		    " lines; split it by subject")
	if (width($0) > 80)
		complain(FNR, "the line is wider than 80 columns; break it")
}
function body_(name, n) {
	if (n > 80)
		complain(FNR, name "() has " n " lines, 80 are allowed; " \
		    "take a part out that has a name")
}
function decl_(text, from, kind,    name, i, c, d, n, was, is, p) {
	name = function_name(text)
	if (name == "" || kind == "=" || text ~ /=/)
		return
	p = substr(text, index(text, name "(") + length(name) + 1) ","
	for (i = 1; i <= length(p) && d >= 0; i++) {
		c = substr(p, i, 1)
		d += (c == "(") - (c == ")")
		if (d > 0 || (d == 0 && c != ",")) {
			one = one c
			continue
		}
		sub(/^[ \t]+/, "", one)
		n++
		is = (one ~ /^(const )?bool [^*]*$/)
		if (is && was)
			complain(from, name "() has two bool parameters side " \
			    "by side; use flags or a struct")
		was = is
		one = ""
	}
	if (n > 6)
		complain(from, name "() has " n " parameters, 6 are allowed; " \
		    "use a struct")
}
