# includes.awk: see includes.
function node(path) { sub(/[.][ch]$/, "", path); return path }
FNR == 1 {
	split(FILENAME, part, "/")
	unit = part[1] "/" part[2]
	from = node(FILENAME)
	known[from] = unit
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
	inc = $0
	gsub(/^[^"]*"|"[^"]*$/, "", inc)
	n++
	src[n] = from
	file[n] = FILENAME
	line[n] = FNR
	name[n] = inc
	of[n] = unit
}
# The node of an include; "" if it is not in the unit.
function target(i,    t) {
	if (name[i] ~ /(^|\/)handlers[.]h$/)
		return ""
	t = node(of[i] "/" name[i])
	if (t in known)
		return t
	t = "libs/" node(name[i])
	if (t in known && known[t] == of[i])
		return t
	t = src[i]
	sub(/[^\/]*$/, "", t)
	t = t node(name[i])
	return t in known ? t : ""
}
# Tarjan's strongly connected components.
function visit(v,    i, w, k) {
	low[v] = num[v] = ++clock
	stack[++top] = v
	on[v] = 1
	k = split(edges[v], list, " ")
	edgelist[v, 0] = k
	for (i = 1; i <= k; i++)
		edgelist[v, i] = list[i]
	for (i = 1; i <= edgelist[v, 0]; i++) {
		w = edgelist[v, i]
		if (!(w in num)) {
			visit(w)
			if (low[w] < low[v])
				low[v] = low[w]
		} else if (on[w] && num[w] < low[v])
			low[v] = num[w]
	}
	if (low[v] == num[v]) {
		groups++
		do {
			w = stack[top--]
			on[w] = 0
			group[w] = groups
		} while (w != v)
	}
}
END {
	for (i = 1; i <= n; i++) {
		to[i] = target(i)
		if (to[i] == "" || to[i] == src[i] ||
		    src[i] ~ /_internal$/)
			continue
		all[of[i]]++
		if (!((src[i], to[i]) in seen)) {
			seen[src[i], to[i]] = 1
			edges[src[i]] = edges[src[i]] " " to[i]
		}
	}
	for (v in known) {
		files[known[v]]++
		if (!(v in num))
			visit(v)
	}
	for (i = 1; i <= n; i++)
		if (to[i] != "" && to[i] != src[i] &&
		    src[i] !~ /_internal$/ && group[src[i]] == group[to[i]]) {
			circle[of[i]]++
			if (!count)
				printf "%s:%d: %s includes this file in turn\n",
				    file[i], line[i], to[i]
			bad = 1
		}
	if (count)
		for (u in files)
			printf "%s: %d files, %d includes, %d in circles\n",
			    u, files[u], all[u], circle[u] | "sort"
	exit count ? 0 : bad
}
