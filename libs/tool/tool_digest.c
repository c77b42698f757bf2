#include "tool/tool_digest.h"

#include <openssl/evp.h>
#include <stdlib.h>

#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "wire/out.h"
#include "wire/tree.h"
#include "wire/wire.h"

void
tool_digest(const struct str *parts, size_t n, char dst[TOOL_DIGEST_MAX])
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	unsigned char hash[EVP_MAX_MD_SIZE];
	unsigned len = 0;
	bool ok;
	size_t i;

	ok = ctx != NULL && EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) == 1;
	for (i = 0; ok && i < n; i++)
		ok = EVP_DigestUpdate(ctx, parts[i].n > 0 ? parts[i].p : "",
			 parts[i].n) == 1 &&
		    EVP_DigestUpdate(ctx, "", 1) == 1;
	ok = ok && EVP_DigestFinal_ex(ctx, hash, &len) == 1;
	EVP_MD_CTX_free(ctx);
	/* A constant would let one definition pass for another. */
	if (!ok) {
		log_error("tool.broken", LOG_S("call", "EVP_sha256"));
		abort();
	}
	id_hex(hash, len, dst);
}

/* ---- canonical JSON ---- */

static int
canonical_compare(const void *a, const void *b)
{
	return str_cmp(((const struct wire_tree_member *)a)->key,
	    ((const struct wire_tree_member *)b)->key);
}

static void canonical_put_value(const struct wire_tree *v, struct wire_out *o);

static void
canonical_put_object(const struct wire_tree *v, struct wire_out *o)
{
	size_t i, n = wire_tree_len(v);
	struct wire_tree_member *all = mem_calloc(n + 1, sizeof(*all)), m;

	for (i = 0;
	     i < n && (i == 0 ? wire_tree_first(v, &m) : wire_tree_next(v, &m));
	     i++)
		all[i] = m;
	qsort(all, n, sizeof(*all), canonical_compare);
	wire_out_object(o);
	for (i = 0; i < n; i++) {
		wire_out_key(o, all[i].key);
		canonical_put_value(all[i].value, o);
	}
	wire_out_object_end(o);
	free(all);
}

/* Recursion is as deep as the text is nested, WIRE_DEPTH_MAX at most. */
static void
canonical_put_value(const struct wire_tree *v, struct wire_out *o)
{
	size_t i;

	switch (wire_tree_kind(v)) {
	case WIRE_TREE_OBJECT:
		canonical_put_object(v, o);
		return;
	case WIRE_TREE_ARRAY:
		wire_out_array(o);
		for (i = 0; i < wire_tree_len(v); i++)
			canonical_put_value(wire_tree_at(v, i), o);
		wire_out_array_end(o);
		return;
	default:
		wire_tree_put(v, o);
	}
}

enum rc
tool_canonical_put(struct str json, struct buf *out)
{
	struct wire_out o = { .b = out };
	struct wire_tree *v;
	enum rc rc = wire_tree_parse(json, &v);

	if (rc != RC_OK)
		return rc;
	canonical_put_value(v, &o);
	wire_tree_free(v);
	return buf_rc(out);
}

/* ---- definitions and calls ---- */

/* The digest of the parts, of which the last is JSON. */
static enum rc
digest_with_json(struct str *parts, size_t n, char dst[TOOL_DIGEST_MAX])
{
	/* Escapes may be longer than what they stand for. */
	struct buf json = BUF_INIT(6 * (size_t)WIRE_MESSAGE_MAX);
	enum rc rc = tool_canonical_put(parts[n - 1], &json);

	parts[n - 1] = buf_str(&json);
	if (rc == RC_OK)
		tool_digest(parts, n, dst);
	buf_free(&json);
	return rc;
}

enum rc
tool_definition_digest(
    const struct tool_definition *d, char dst[TOOL_DIGEST_MAX])
{
	struct str parts[] = { d->name, d->description, d->schema };

	return digest_with_json(parts, NELEM(parts), dst);
}

enum rc
tool_seal(const struct tool_sealed_call *c, char dst[TOOL_DIGEST_MAX])
{
	struct str parts[] = { c->provider, c->server, c->tool, c->definition,
		c->arguments };

	return digest_with_json(parts, NELEM(parts), dst);
}
