/*
 * Normalising a command: Unicode, white space, politeness.
 */
#include "command.h"

#include <stdint.h>
#include <stdlib.h>
#include <utf8proc.h>

#include "core/mem.h"

/* Longest first among those that begin alike. */
static const struct str zh_prefixes[] = {
	STR_INIT("可以帮我"),
	STR_INIT("请帮我"),
	STR_INIT("麻烦你"),
	STR_INIT("能不能"),
	STR_INIT("请问"),
	STR_INIT("请你"),
	STR_INIT("帮我"),
	STR_INIT("麻烦"),
	STR_INIT("给我"),
	STR_INIT("帮忙"),
};
static const struct str en_prefixes[] = {
	STR_INIT("could you please "),
	STR_INIT("can you please "),
	STR_INIT("could you "),
	STR_INIT("can you "),
	STR_INIT("please "),
};

static enum rc
nfkc(struct str raw, struct arena *a, struct str *out)
{
	utf8proc_uint8_t *dst = NULL;
	utf8proc_ssize_t n;

	n = utf8proc_map((const utf8proc_uint8_t *)raw.p,
	    (utf8proc_ssize_t)raw.n, &dst,
	    UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
	if (n < 0)
		return RC_INVALID;
	*out = arena_str(a, (struct str){ (const char *)dst, (size_t)n });
	free(dst);
	return out->p != NULL ? RC_OK : RC_TOOBIG;
}

static bool
is_blank(int32_t c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 ||
	    c == 0x1680 || (c >= 0x2000 && c <= 0x200b) || c == 0x2028 ||
	    c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000 ||
	    c == 0xfeff;
}

/*
 * An ideograph decides for Chinese however many Latin letters stand beside it
 * ("把LED灯打开"); kana and Hangul decide before it.
 */
static const char *
guess_locale(struct str s, const char *dflt)
{
	bool han = false, kana = false, latin = false;
	size_t pos = 0;
	int32_t c;

	while ((c = str_utf8_next(s, &pos)) >= 0) {
		if ((c >= 0xac00 && c <= 0xd7a3) ||
		    (c >= 0x1100 && c <= 0x11ff))
			return "ko-KR";
		if (c >= 0x3041 && c <= 0x30ff)
			kana = true;
		else if ((c >= 0x3400 && c <= 0x9fff) || c >= 0x20000)
			han = true;
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
			latin = true;
	}
	if (kana)
		return "ja-JP";
	if (han)
		return "zh-CN";
	return latin ? "en-US" : dflt;
}

/* Blanks part words in Latin text and mean nothing elsewhere. */
static struct str
squeeze(struct str s, bool keep_one, struct arena *a)
{
	char *dst = arena_alloc(a, s.n + 1);
	size_t pos = 0, start, n = 0;
	bool gap = false;
	int32_t c;

	if (dst == NULL)
		return (struct str){ 0 };
	for (start = 0; (c = str_utf8_next(s, &pos)) >= 0; start = pos) {
		if (is_blank(c)) {
			gap = n > 0;
			continue;
		}
		if (gap && keep_one)
			dst[n++] = ' ';
		gap = false;
		memcpy(dst + n, s.p + start, pos - start);
		n += pos - start;
	}
	return (struct str){ dst, n };
}

static struct str
lower(struct str s, struct arena *a)
{
	char *dst = arena_alloc(a, s.n + 1);
	size_t i;

	if (dst == NULL)
		return (struct str){ 0 };
	for (i = 0; i < s.n; i++)
		dst[i] = s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] + 32)
							: s.p[i];
	return (struct str){ dst, s.n };
}

static size_t
prefix_len(struct str folded, const struct str *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (str_starts(folded, list[i]) && folded.n > list[i].n)
			return list[i].n;
	}
	return 0;
}

enum rc
command_read(struct str raw, const char *locale, const char *dflt,
    struct arena *a, struct command *out)
{
	struct str s;
	bool latin;
	size_t cut;
	enum rc rc;

	rc = nfkc(raw, a, &s);
	if (rc != RC_OK)
		return rc;
	out->locale = locale != NULL ? locale : guess_locale(s, dflt);
	latin = strncmp(out->locale, "en", 2) == 0;
	out->text = squeeze(s, latin, a);
	out->folded = lower(out->text, a);
	if (out->text.p == NULL || out->folded.p == NULL)
		return RC_TOOBIG;
	cut = latin ? prefix_len(out->folded, en_prefixes, NELEM(en_prefixes))
		    : prefix_len(out->folded, zh_prefixes, NELEM(zh_prefixes));
	out->text.p += cut;
	out->text.n -= cut;
	out->folded.p += cut;
	out->folded.n -= cut;
	return RC_OK;
}

enum rc
command_fold(struct str raw, struct arena *a, struct str *out)
{
	struct str s;
	enum rc rc;

	rc = nfkc(raw, a, &s);
	if (rc != RC_OK)
		return rc;
	*out = lower(str_trim(s), a);
	return out->p != NULL ? RC_OK : RC_TOOBIG;
}
