# banned.awk: functions and habits with a better way, and their homes.
BEGIN {
	ban("strcpy strcat strncpy strncat sprintf vsprintf gets",
	    "use core/buf.h or snprintf", "^$")
	ban("strtok", "use strtok_r or core/str.h", "^$")
	ban("atoi atol atoll atof", "it cannot fail; use core/str.h", "^$")
	ban("gmtime localtime asctime ctime", "use the _r form", "^$")
	ban("alloca", "use core/arena.h", "^$")
	ban("getenv secure_getenv", "configuration is a table, core/conf.h",
	    "^./libs/core/conf[.]c$|^./tests/")
	ban("malloc calloc realloc reallocarray strdup strndup",
	    "use core/mem.h, which cannot fail",
	    "^./libs/core/mem[.]c$|^./tests/testkit/")
	ban("asprintf vasprintf", "use core/buf.h", "^./tests/")
	ban("sleep usleep", "wait for a condition", "^$")
	ban("nanosleep clock_nanosleep", "wait for a condition (tk_until)",
	    "^./tests/testkit/")
	ban("printf puts putchar perror", "use core/log.h",
	    "^./(tests|proto-schemas)/|^./libs/core/conf[.]c$|" \
	    "^./libs/svc/config[.]c$|^./services/[^/]*(-sim|/trainer)/")
	ban("tmpnam mktemp tempnam", "use mkdtemp, or tk_dir()", "^$")
	ban("rand srand random", "use core/id.h, or hand the number in", "^$")
}
function ban(names, why, home,    n, i, a) {
	n = split(names, a, " ")
	for (i = 1; i <= n; i++) {
		better[a[i]] = why
		at_home[a[i]] = home
	}
}
function begin_() { }
function decl_(s, from, kind) { }
function body_(name, n) { }
function line_(s,    call, before) {
	if (match(s, /goto +[a-z_0-9]+/) &&
	    substr(s, RSTART, RLENGTH) !~ /goto +out$/)
		complain(FNR, "goto to something else than out: at the end")
	if (match(s, /return \(.*\);/) &&
	    whole(substr(s, RSTART + 7, RLENGTH - 8)))
		complain(FNR, "return is no function; drop the parentheses")
	while (match(s, /[A-Za-z_][A-Za-z0-9_]* *\(/)) {
		call = substr(s, RSTART, RLENGTH - 1)
		sub(/ +$/, "", call)
		before = substr(s, RSTART - 1, 1)
		s = substr(s, RSTART + RLENGTH)
		if (call in better && before != "." && before != ">" &&
		    FILENAME !~ at_home[call])
			complain(FNR, call "() is banned; " better[call])
	}
}
# Whether the parenthesis that s starts with ends where s ends.
function whole(s,    i, d) {
	for (i = 1; i <= length(s); i++) {
		d += (substr(s, i, 1) == "(") - (substr(s, i, 1) == ")")
		if (d == 0)
			return i == length(s)
	}
	return 0
}
