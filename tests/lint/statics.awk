# statics.awk: see statics.
function begin_() { }
function line_(s) { }
function body_(name, n) { }
function decl_(s, from, kind,    name) {
	if (s !~ /^static / || (kind == ";" && s ~ /\(/ && s !~ /=/))
		return
	if (kind == "{" || (s ~ /\(/ && s !~ /=/))
		name = function_name(s)
	else {
		name = s
		sub(/ *=.*/, "", name)
		gsub(/\[[^]]*\]/, "", name)
		sub(/\)\(.*/, "", name)
		sub(/ +$/, "", name)
		sub(/.*[ *]/, "", name)
	}
	if (name == "")
		return
	if (name !~ /_/)
		complain(from, name ": a static name carries its subject, " \
		    "as in turn_queue_enter")
	if (!((name, FILENAME) in seen)) {
		seen[name, FILENAME] = 1
		if (++files[name] == 4)
			complain(from, name ": the fourth file that defines " \
			    "this name")
	}
}
