# Print each broken relative link of the Markdown files named as arguments;
# see links.  Bytes, not characters: run it with LC_ALL=C.

# The slug GitHub gives a heading: lower case, without punctuation, spaces as
# hyphens.  Of UTF-8 the punctuation of U+2000 to U+2FFF, U+3000 to U+303F,
# U+FF00 to U+FF65 and U+00B7 goes.
function slug(s) {
	gsub(/\]\([^)]*\)/, "", s)
	gsub(/<[^>]*>/, "", s)
	sub(/[ \t#]+$/, "", s)
	s = tolower(s)
	gsub(/\342[\200-\277][\200-\277]/, "", s)
	gsub(/\343\200[\200-\277]/, "", s)
	gsub(/\357\274[\200-\217\232-\240\273-\277]/, "", s)
	gsub(/\357\275[\200\233-\245]/, "", s)
	gsub(/\302\267/, "", s)
	gsub(/[!-,.\/:-@\[-^`{-~]/, "", s)
	gsub(/ /, "-", s)
	return s
}

# Without "." and "..": docs/../k8s/README.md is k8s/README.md.
function normal(path,    n, part, i, out, top) {
	n = split(path, part, "/")
	top = 0
	for (i = 1; i <= n; i++) {
		if (part[i] == "" || part[i] == ".")
			continue
		if (part[i] == ".." && top > 0 && out[top] != "..")
			top--
		else
			out[++top] = part[i]
	}
	path = substr(path, 1, 1) == "/" ? "/" : ""
	for (i = 1; i <= top; i++)
		path = path (i > 1 ? "/" : "") out[i]
	return path
}

function exists(path) {
	if (!(path in present))
		present[path] = !system("test -e '" (path == "" ? "." : path) "'")
	return present[path]
}

# The anchors of a file; a repeated heading gets -1, -2...
function read_anchors(file,    line, fence, s, n, seen) {
	if (file in scanned)
		return
	scanned[file] = 1
	while ((getline line < file) > 0) {
		if (line ~ /^ *(```|~~~)/)
			fence = !fence
		if (fence)
			continue
		if (match(line, /^ ? ? ?#+[ \t]+/)) {
			s = slug(substr(line, RLENGTH + 1))
			n = seen[s]++
			anchors[file, s (n ? "-" n : "")] = 1
		}
		while (match(line, / (id|name)="[^"]*"/)) {
			s = substr(line, RSTART, RLENGTH - 1)
			sub(/^[^"]*"/, "", s)
			anchors[file, s] = 1
			line = substr(line, RSTART + RLENGTH)
		}
	}
	close(file)
}

function check(target,    at, path, anchor) {
	if (target ~ /^[a-zA-Z][a-zA-Z0-9+.-]*:/ || target ~ /^\/\//)
		return
	at = index(target, "#")
	path = at ? substr(target, 1, at - 1) : target
	anchor = at ? substr(target, at + 1) : ""
	path = path == "" ? name : normal(folder path)
	if (!exists(path)) {
		print name ":" FNR ": no file " target
		bad = 1
	} else if (anchor != "" && path ~ /\.md$/) {
		read_anchors(path)
		if (!((path, anchor) in anchors)) {
			print name ":" FNR ": no heading " target
			bad = 1
		}
	}
}

FNR == 1 {
	fenced = 0
	name = normal(FILENAME)
	folder = name
	sub(/[^\/]*$/, "", folder)
}
/^ *(```|~~~)/ { fenced = !fenced }
fenced { next }
{
	line = $0
	gsub(/`[^`]*`/, "x", line)
	if (match(line, /^ *\[[^]]+\]: */)) {
		line = substr(line, RLENGTH + 1)
		sub(/ .*/, "", line)
		check(line)
		next
	}
	while (match(line, /\]\([^ )]+/)) {
		check(substr(line, RSTART + 2, RLENGTH - 2))
		line = substr(line, RSTART + RLENGTH)
	}
	line = $0
	while (match(line, /(href|src)="[^"]+"/)) {
		target = substr(line, RSTART, RLENGTH - 1)
		line = substr(line, RSTART + RLENGTH)
		sub(/^[^"]*"/, "", target)
		check(target)
	}
}
END { exit bad }
