#include "core/trace.h"

#include <stdio.h>
#include <string.h>

/* Length and offsets of "00-<32>-<16>-<2>". */
#define PARENT_LEN 55
#define TRACE_AT   3
#define SPAN_AT    36
#define FLAGS_AT   53
/* Random bytes of a trace: its id, and from SPAN_RAW on its span's. */
#define TRACE_BYTES 24
#define SPAN_RAW    16
/* Defined flags: sampled, random.  Others are dropped. */
#define FLAGS_KNOWN 0x03U

static void
trace_new_span(char dst[17])
{
	char hex[ID_HEX32_MAX];

	do {
		id_hex32(hex);
		memcpy(dst, hex, 16);
		dst[16] = '\0';
	} while (strspn(dst, "0") == 16);
}

static bool
trace_is_zero(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != '0')
			return false;
	return true;
}

static void
trace_set(struct trace *t, unsigned char raw[TRACE_BYTES])
{
	/* A random UUID, see trace_uuid(). */
	raw[6] = (unsigned char)((raw[6] & 0x0fU) | 0x40U);
	raw[8] = (unsigned char)((raw[8] & 0x3fU) | 0x80U);
	id_hex(raw, SPAN_RAW, t->trace_id);
	id_hex(raw + SPAN_RAW, TRACE_BYTES - SPAN_RAW, t->span_id);
	if (trace_is_zero(t->span_id, 16))
		t->span_id[0] = '1';
	t->flags = TRACE_SAMPLED;
}

void
trace_new(struct trace *t)
{
	unsigned char raw[TRACE_BYTES];

	id_random(raw, sizeof(raw));
	trace_set(t, raw);
}

void
trace_new_of(struct trace *t, struct id_stock *stock)
{
	unsigned char raw[TRACE_BYTES];

	id_stock_take(stock, raw, sizeof(raw));
	trace_set(t, raw);
}

void
trace_child(const struct trace *parent, struct trace *t)
{
	if (t != parent)
		*t = *parent;
	trace_new_span(t->span_id);
}

static int
trace_hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool
trace_is_hex(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (trace_hex_value(p[i]) < 0)
			return false;
	return true;
}

enum rc
trace_parse(struct str s, struct trace *t)
{
	const char *p = s.p;
	bool v0;

	if (s.n < PARENT_LEN || !trace_is_hex(p, 2) || memcmp(p, "ff", 2) == 0)
		return RC_INVALID;
	v0 = trace_is_zero(p, 2);
	if (s.n > PARENT_LEN && (v0 || p[PARENT_LEN] != '-'))
		return RC_INVALID;
	if (p[TRACE_AT - 1] != '-' || p[SPAN_AT - 1] != '-' ||
	    p[FLAGS_AT - 1] != '-' || !trace_is_hex(p + TRACE_AT, 32) ||
	    !trace_is_hex(p + SPAN_AT, 16) || !trace_is_hex(p + FLAGS_AT, 2))
		return RC_INVALID;
	if (trace_is_zero(p + TRACE_AT, 32) || trace_is_zero(p + SPAN_AT, 16))
		return RC_INVALID;
	memcpy(t->trace_id, p + TRACE_AT, 32);
	t->trace_id[32] = '\0';
	memcpy(t->span_id, p + SPAN_AT, 16);
	t->span_id[16] = '\0';
	t->flags = (unsigned char)((unsigned)trace_hex_value(p[FLAGS_AT + 1]) &
	    FLAGS_KNOWN);
	return RC_OK;
}

void
trace_format(const struct trace *t, char dst[TRACE_PARENT_MAX])
{
	static const char hex[] = "0123456789abcdef";

	memcpy(dst, "00-", TRACE_AT);
	memcpy(dst + TRACE_AT, t->trace_id, 32);
	dst[SPAN_AT - 1] = '-';
	memcpy(dst + SPAN_AT, t->span_id, 16);
	dst[FLAGS_AT - 1] = '-';
	dst[FLAGS_AT] = hex[t->flags >> 4];
	dst[FLAGS_AT + 1] = hex[t->flags & 15];
	dst[FLAGS_AT + 2] = '\0';
}

void
trace_uuid(const struct trace *t, char dst[ID_UUID_MAX])
{
	static const unsigned char part[] = { 8, 4, 4, 4, 12 };
	const char *p = t->trace_id;
	size_t i;

	for (i = 0; i < sizeof(part); i++) {
		memcpy(dst, p, part[i]);
		p += part[i];
		dst += part[i];
		*dst++ = '-';
	}
	dst[-1] = '\0';
}
