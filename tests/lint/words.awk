# words.awk: what users say is for no log above debug: no pair of log_info(),
# log_warn() and log_error() is named after it, or made of a view of it.
BEGIN {
	named = "\"(text|body|prompt|reply|content|words|query|payload|args" \
	    "|arguments|output|input|value|memory_text|message_text)\""
	made = "(->|[.])(text|body|payload|prompt|content|query|output|error" \
	    "|reply|input|data)$"
}
function begin_() { said = "" }
function decl_(s, from, kind) { }
function body_(name, n) { }
function line_(s) {
	if (FILENAME ~ /^.\/tests\//)
		return
	if (said == "" && s !~ /(^|[^a-z_])log_(info|warn|error)\(/)
		return
	# Literals are wanted here.
	said = said $0 " "
	if (s !~ /;[ \t]*$/)
		return
	judge(said)
	said = ""
}
function judge(s,    pair) {
	gsub(/[ \t]+/, " ", s)
	if (match(s, "LOG_[A-Z]+\\( ?" named))
		complain(FNR, "a pair named after what users say; " \
		    "log_debug() it")
	while (match(s, /LOG_V\([^,]*, *[^ (),]+\)/)) {
		pair = substr(s, RSTART, RLENGTH - 1)
		s = substr(s, RSTART + RLENGTH)
		sub(/^[^,]*, */, "", pair)
		if (pair ~ made)
			complain(FNR, pair " may be what a user says; " \
			    "log_debug() it")
	}
}
