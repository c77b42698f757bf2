# words.awk: user texts are logged at debug level only: no field of log_info(),
# log_warn() or log_error() has a name of user text or a value that may be one.
BEGIN {
	named = "\"(text|body|prompt|reply|content|words|query|payload|args" \
	    "|arguments|output|input|value|memory_text|message_text)\""
	value = "(->|[.])(text|body|payload|prompt|content|query|output|error" \
	    "|reply|input|data)$"
}
function begin_() { statement = "" }
function decl_(s, from, kind) { }
function body_(name, n) { }
function line_(s) {
	if (FILENAME ~ /^.\/tests\//)
		return
	if (statement == "" && s !~ /(^|[^a-z_])log_(info|warn|error)\(/)
		return
	# Literals are needed here, so $0, not s.
	statement = statement $0 " "
	if (s !~ /;[ \t]*$/)
		return
	check_statement(statement)
	statement = ""
}
function check_statement(s,    pair) {
	gsub(/[ \t]+/, " ", s)
	if (match(s, "LOG_[A-Z]+\\( ?" named))
		complain(FNR, "a field named like user text; " \
		    "log_debug() it")
	while (match(s, /LOG_V\([^,]*, *[^ (),]+\)/)) {
		pair = substr(s, RSTART, RLENGTH - 1)
		s = substr(s, RSTART + RLENGTH)
		sub(/^[^,]*, */, "", pair)
		if (pair ~ value)
			complain(FNR, pair " may be user text; " \
			    "log_debug() it")
	}
}
