# identifiers.awk: see identifiers.
BEGIN {
	while ((getline line < denied) > 0)
		if (line !~ /^#/)
			no[line] = 1
	while ((getline line < fixed) > 0)
		exempt[line] = exempt[toupper(line)] = 1
	others = "^(MQTT_PROP|wire|WIRE|probe|PROBE|pthread|PTHREAD|json|JSON|nats|mosquitto|MOSQ" \
	    "|curl|CURL|CURLOPT|redis|mg|pcre2|PCRE2|EVP|SSL|BIO|X509|ck|utf8proc" \
	    "|UTF8PROC|sha256|NATS|EAI|FALLOC)_"
}
FNR == 1 { in_comment = 0 }
/^[ \t]*#[ \t]*include/ { next }
{
	s = code($0)
	while (match(s, /[A-Za-z_][A-Za-z0-9_]*/)) {
		name = substr(s, RSTART, RLENGTH)
		s = substr(s, RSTART + RLENGTH)
		# A member of a schema has a has_ or n_ beside it.
		member = name
		sub(/^(has|n)_/, "", member)
		if (name in exempt || member in exempt || name ~ others)
			continue
		n = split(tolower(name), part, "_")
		for (i = 1; i <= n; i++)
			if (part[i] in no) {
				printf "%s:%d: %s: \"%s\" is a word of ours; " \
				    "docs/glossary.md has the field's\n",
				    FILENAME, FNR, name, part[i]
				bad = 1
			}
	}
}
END { exit bad }
