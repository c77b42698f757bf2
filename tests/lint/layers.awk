# layers.awk: every #include against the dependency graph.
#
# LINT_LAYERS: "unit|libraries it may include|third-party headers that are its
# own", a line for each library and service; make writes it from
# libs/layers.mk.
BEGIN {
	n = split(ENVIRON["LINT_LAYERS"], row, "\n")
	for (i = 1; i <= n; i++) {
		split(row[i], col, "|")
		units[col[1]] = may[col[1], col[1]] = 1
		k = split(col[2], a, " ")
		for (j = 1; j <= k; j++)
			may[col[1], a[j]] = 1
		k = split(col[3], a, " ")
		for (j = 1; j <= k; j++) {
			owns[col[1], a[j]] = 1
			owner[a[j]] = owner[a[j]] " " col[1]
		}
	}
}
function decl_(s, from, kind) { }
function body_(name, n) { }
function begin_() {
	split(FILENAME, part, "/")
	unit = part[2] ~ /^(libs|services)$/ ? part[3] : ""
	service = part[2] == "services"
	home = "services/" part[3] "/"
	inner = ""
	# A program in a folder of a service is a unit of its own.
	if (service && 5 in part && part[4] in units) {
		unit = part[4]
		inner = home part[4] "/"
	}
	if (unit != "" && !(unit in units))
		complain(1, unit " is not in libs/layers.mk; add its USES_ line")
}
function exists(file,    line, found) {
	found = (getline line < file) >= 0
	close(file)
	return found
}
function line_(s,    inc, lib, h) {
	if (s !~ /^[ \t]*#[ \t]*include/)
		return
	inc = $0
	gsub(/^[^<"]*[<"]|[>"].*$/, "", inc)
	if (inc ~ /(^|\/)\.\.\//)
		complain(FNR, "relative include " inc "; write \"library/file.h\"")
	if (unit == "")
		return # tests and the generator may include what they test
	lib = inc ~ /\// ? substr(inc, 1, index(inc, "/") - 1) : ""
	if ($0 ~ /"/ && lib == "" && !service && inc != "version.h")
		complain(FNR, "include as \"" unit "/" inc "\"")
	if ($0 ~ /"/ && lib == "" && service && inc != "version.h" &&
	    !exists(home inc) && !(inner != "" && exists(inner inc)))
		complain(FNR, "include as \"folder/" inc "\"")
	if ($0 ~ /"/ && lib == "testkit")
		complain(FNR, "the testkit is for tests")
	if (lib in units && !((unit, lib) in may))
		complain(FNR, unit " may not include " inc \
		    "; libs/layers.mk says what it may")
	for (h in owner) {
		if (index(inc, h) != 1)
			continue
		if (!((unit, h) in owns))
			complain(FNR, inc " belongs to" owner[h] "; use its interface")
		else if (FILENAME ~ /\.h$/)
			complain(FNR, inc " must stay out of headers; " \
			    "include it in the .c file")
	}
}
