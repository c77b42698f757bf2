#include "http_param.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "wire/out.h"
#include "wire/tree.h"

static bool
param_is_name(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] >= 127 ||
		    strchr("()<>@,;:\\\"/[]?={}", s.p[i]) != NULL)
			return false;
	return s.n > 0 && s.n <= 64;
}

static bool
param_is_plain(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (s.p[i] < ' ' || s.p[i] >= 127)
			return false;
	return s.n > 0 && s.p[0] != ' ' && s.p[s.n - 1] != ' ' &&
	    !str_starts(s, STR("=?base64?"));
}

void
http_param_value_put(struct str text, struct buf *out)
{
	size_t n = (text.n + 2) / 3 * 4;
	unsigned char *b64;

	if (param_is_plain(text)) {
		buf_put_str(out, text);
		return;
	}
	b64 = mem_alloc(n + 1);
	EVP_EncodeBlock(b64, (const unsigned char *)(text.n > 0 ? text.p : ""),
	    (int)text.n);
	buf_puts(out, "=?base64?");
	buf_put(out, b64, n);
	buf_puts(out, "?=");
	free(b64);
}

static void
param_put(struct str name, const struct wire_tree *v, struct buf *out)
{
	struct buf text = BUF_INIT(HTTP_PARAM_VALUE_MAX);
	struct wire_out o = { .b = &text };

	switch (wire_tree_kind(v)) {
	case WIRE_TREE_TEXT:
		buf_put_str(&text, wire_tree_text(v));
		break;
	case WIRE_TREE_NUMBER:
	case WIRE_TREE_BOOL:
		wire_tree_put(v, &o);
		break;
	default:
		buf_free(&text);
		return;
	}
	if (!text.over) {
		buf_printf(out, "Mcp-Param-%.*s: ", STR_ARG(name));
		http_param_value_put(buf_str(&text), out);
		buf_putc(out, '\0');
	}
	buf_free(&text);
}

void
http_param_put(struct str schema, struct str arguments, struct buf *out)
{
	struct wire_tree *s = NULL, *a = NULL;
	const struct wire_tree *properties;
	struct wire_tree_member m;
	size_t n = 0;
	bool more;

	if (wire_tree_parse(schema, &s) == RC_OK &&
	    wire_tree_parse(arguments, &a) == RC_OK) {
		properties = wire_tree_get(s, STR("properties"));
		for (more = wire_tree_first(properties, &m);
		     more && n < HTTP_PARAMS_MAX;
		     more = wire_tree_next(properties, &m)) {
			struct str name = wire_tree_text(
			    wire_tree_get(m.value, STR("x-mcp-header")));

			if (!param_is_name(name))
				continue;
			param_put(name, wire_tree_get(a, m.key), out);
			n++;
		}
	}
	wire_tree_free(s);
	wire_tree_free(a);
}
