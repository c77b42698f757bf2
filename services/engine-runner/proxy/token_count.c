#include "proxy/token_count.h"

#include <string.h>

#include "core/mem.h"

/* Bytes of an estimated token. */
#define TOKEN_BYTES 4
/* Of a line of an event stream: it is not data. */
#define LINE_OTHER 100U

/* Where in the response a container is; all others are skipped. */
enum count_node {
	NODE_LIST,    /* the array that is the whole response */
	NODE_TOP,     /* an element of it, or the object that is all */
	NODE_INNER,   /* its member "response" or "message" */
	NODE_USAGE,   /* the usage of one of them */
	NODE_DETAILS, /* an object in the usage */
	NODE_NONE
};

static const struct {
	enum count_node node;
	struct str key;
	enum token_field field;
} count_table[] = {
	{ NODE_USAGE, STR_INIT("input_tokens"), TOKEN_INPUT },
	{ NODE_USAGE, STR_INIT("prompt_tokens"), TOKEN_INPUT },
	{ NODE_USAGE, STR_INIT("promptTokenCount"), TOKEN_INPUT },
	{ NODE_USAGE, STR_INIT("output_tokens"), TOKEN_OUTPUT },
	{ NODE_USAGE, STR_INIT("completion_tokens"), TOKEN_OUTPUT },
	{ NODE_USAGE, STR_INIT("candidatesTokenCount"), TOKEN_OUTPUT },
	{ NODE_USAGE, STR_INIT("cachedContentTokenCount"), TOKEN_CACHED },
	{ NODE_USAGE, STR_INIT("thoughtsTokenCount"), TOKEN_THOUGHTS_BESIDE },
	{ NODE_USAGE, STR_INIT("toolUsePromptTokenCount"), TOKEN_TOOLS_BESIDE },
	{ NODE_USAGE, STR_INIT("cache_read_input_tokens"),
	    TOKEN_CACHED_BESIDE },
	{ NODE_USAGE, STR_INIT("cache_creation_input_tokens"),
	    TOKEN_WRITTEN_BESIDE },
	{ NODE_DETAILS, STR_INIT("cached_tokens"), TOKEN_CACHED },
	{ NODE_DETAILS, STR_INIT("reasoning_tokens"), TOKEN_REASONING },
};

void
token_count_init(struct token_count *t, bool sse)
{
	memset(t, 0, sizeof(*t));
	t->sse = sse;
}

static struct str
count_key(const struct token_count *t)
{
	return (struct str){ t->key, t->nkey <= sizeof(t->key) ? t->nkey : 0 };
}

static enum count_node
count_parent(const struct token_count *t)
{
	return t->depth > 0 ? (enum count_node)t->node[t->depth - 1]
			    : NODE_NONE;
}

/* The node of a container that opens. */
static enum count_node
count_child(const struct token_count *t, bool object)
{
	enum count_node parent = count_parent(t);
	struct str key = count_key(t);

	if (t->depth == 0)
		return object ? NODE_TOP : NODE_LIST;
	if (!object)
		return NODE_NONE;
	if (parent == NODE_LIST)
		return NODE_TOP;
	if (parent == NODE_TOP || parent == NODE_INNER) {
		if (str_eq(key, STR("usage")) ||
		    str_eq(key, STR("usageMetadata")))
			return NODE_USAGE;
		if (parent == NODE_TOP &&
		    (str_eq(key, STR("response")) ||
			str_eq(key, STR("message"))))
			return NODE_INNER;
	}
	return parent == NODE_USAGE ? NODE_DETAILS : NODE_NONE;
}

static void
count_open(struct token_count *t, bool object)
{
	enum count_node node = count_child(t, object);

	if (t->skipped > 0 || node == NODE_NONE ||
	    t->depth == sizeof(t->node)) {
		t->skipped++;
		return;
	}
	t->node[t->depth++] = (unsigned char)node;
	t->wants_key = object;
	t->nkey = 0;
}

static void
count_close(struct token_count *t)
{
	if (t->skipped > 0)
		t->skipped--;
	else if (t->depth > 0)
		t->depth--;
	t->wants_key = false;
	t->nkey = 0;
}

/* A number has ended. */
static void
count_take(struct token_count *t)
{
	struct str key = count_key(t);
	size_t i;

	t->in_number = false;
	if (t->skipped > 0)
		return;
	for (i = 0; i < NELEM(count_table); i++) {
		if (count_table[i].node != count_parent(t) ||
		    !str_eq(count_table[i].key, key))
			continue;
		t->has_usage = true;
		if (t->number > t->field[count_table[i].field])
			t->field[count_table[i].field] = t->number;
		return;
	}
}

static void
count_digit(struct token_count *t, char c)
{
	if (!t->in_number) {
		t->in_number = true;
		t->number_ended = false;
		t->number = 0;
	}
	if (c < '0' || c > '9')
		/* A fraction or an exponent; -1 counts as 0. */
		t->number_ended = true;
	else if (!t->number_ended && t->number < TOKEN_COUNT_MAX)
		t->number = t->number * 10 + (c - '0');
	if (t->number > TOKEN_COUNT_MAX)
		t->number = TOKEN_COUNT_MAX;
}

static void
count_string_byte(struct token_count *t, char c)
{
	if (t->escaped) {
		t->escaped = false;
	} else if (c == '\\') {
		t->escaped = true;
	} else if (c == '"') {
		t->in_string = false;
		return;
	}
	if (t->wants_key && t->skipped == 0 && t->nkey <= sizeof(t->key)) {
		if (t->nkey < sizeof(t->key))
			t->key[t->nkey] = c;
		t->nkey++;
	}
}

static void
count_json_byte(struct token_count *t, char c)
{
	if (t->in_string) {
		count_string_byte(t, c);
		return;
	}
	if ((c >= '0' && c <= '9') ||
	    (t->in_number && c != ',' && c != '}' && c != ']' && c != ' ' &&
		c != '\t' && c != '\r' && c != '\n') ||
	    c == '-') {
		count_digit(t, c);
		return;
	}
	if (t->in_number)
		count_take(t);
	switch (c) {
	case '"':
		t->in_string = true;
		t->escaped = false;
		if (t->wants_key && t->skipped == 0)
			t->nkey = 0;
		break;
	case '{':
	case '[':
		count_open(t, c == '{');
		break;
	case '}':
	case ']':
		count_close(t);
		break;
	case ':':
		if (t->skipped == 0)
			t->wants_key = false;
		break;
	case ',':
		if (t->skipped == 0)
			t->wants_key = count_parent(t) != NODE_LIST;
		break;
	default:
		break;
	}
}

static void
count_reset_json(struct token_count *t)
{
	if (t->in_number)
		count_take(t);
	t->depth = t->skipped = t->nkey = 0;
	t->in_string = t->escaped = t->wants_key = false;
}

/* A byte of an event stream: what follows "data:" is JSON. */
static void
count_line_byte(struct token_count *t, char c)
{
	static const char data[] = "data:";

	if (c == '\n' || c == '\r') {
		if (t->line == sizeof(data) - 1)
			count_reset_json(t);
		t->line = 0;
	} else if (t->line == sizeof(data) - 1) {
		count_json_byte(t, c);
	} else if (t->line != LINE_OTHER) {
		t->line = c == data[t->line] ? t->line + 1 : LINE_OTHER;
		if (t->line == sizeof(data) - 1)
			t->events++;
	}
}

void
token_count_feed(struct token_count *t, struct str s)
{
	size_t i;

	t->bytes += (int64_t)s.n;
	for (i = 0; i < s.n; i++) {
		if (t->sse)
			count_line_byte(t, s.p[i]);
		else
			count_json_byte(t, s.p[i]);
	}
}

void
token_count_end(
    const struct token_count *t, size_t request_n, struct tokens *out)
{
	const int64_t *f = t->field;

	*out = (struct tokens){ .estimated = !t->has_usage };
	if (out->estimated) {
		out->input = (int64_t)(request_n / TOKEN_BYTES) + 1;
		out->output = t->sse ? t->events : t->bytes / TOKEN_BYTES;
		return;
	}
	out->input = f[TOKEN_INPUT] + f[TOKEN_CACHED_BESIDE] +
	    f[TOKEN_WRITTEN_BESIDE] + f[TOKEN_TOOLS_BESIDE];
	out->output = f[TOKEN_OUTPUT] + f[TOKEN_THOUGHTS_BESIDE];
	out->cached = f[TOKEN_CACHED] + f[TOKEN_CACHED_BESIDE];
	out->reasoning = f[TOKEN_REASONING] + f[TOKEN_THOUGHTS_BESIDE];
}
