/*
 * The texts of messages.
 */
#include "chat/message_text.h"

#include "core/buf.h"
#include "wire/tree.h"
#include "wire/wire.h"

#define NONE ((struct str){ NULL, 0 })

static struct str
message_part_text(const struct wire_tree *part)
{
	struct str type = wire_tree_text(wire_tree_get(part, STR("type")));
	const struct wire_tree *text = wire_tree_get(part, STR("text"));

	if (!str_eq(type, STR("text")) && !str_eq(type, STR("input_text")))
		return NONE;
	return wire_tree_kind(text) == WIRE_TREE_TEXT ? wire_tree_text(text)
						      : NONE;
}

static enum rc
message_tree_text(
    const struct wire_tree *tree, struct arena *a, struct str *out)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);

	*out = NONE;
	if (wire_tree_kind(tree) == WIRE_TREE_TEXT)
		buf_put_str(&b, wire_tree_text(tree));
	for (size_t i = 0;
	     wire_tree_kind(tree) == WIRE_TREE_ARRAY && i < wire_tree_len(tree);
	     i++) {
		struct str text = message_part_text(wire_tree_at(tree, i));
		if (b.n > 0 && text.n > 0)
			buf_putc(&b, '\n');
		buf_put_str(&b, text);
	}
	if (b.n > 0)
		*out = arena_str(a, buf_str(&b));
	bool full = b.n > 0 && out->p == NULL;
	buf_free(&b);
	return full ? RC_TOOBIG : RC_OK;
}

enum rc
message_text(struct str content, struct arena *a, struct str *out)
{
	struct wire_tree *tree;
	enum rc rc;

	*out = NONE;
	if (content.p == NULL || wire_tree_parse(content, &tree) != RC_OK)
		return RC_OK;
	rc = message_tree_text(tree, a, out);
	wire_tree_free(tree);
	return rc;
}

static bool
message_is_of_user(const struct wire_tree *message)
{
	return str_eq(
	    wire_tree_text(wire_tree_get(message, STR("role"))), STR("user"));
}

enum rc
message_input_text(struct str input, struct arena *a, struct str *out)
{
	struct wire_tree *tree;
	enum rc rc = RC_OK;

	*out = NONE;
	if (input.p == NULL || wire_tree_parse(input, &tree) != RC_OK)
		return RC_OK;
	if (wire_tree_kind(tree) == WIRE_TREE_TEXT)
		rc = message_tree_text(tree, a, out);
	for (size_t i = wire_tree_kind(tree) == WIRE_TREE_ARRAY
		 ? wire_tree_len(tree)
		 : 0;
	     i > 0; i--) {
		const struct wire_tree *m = wire_tree_at(tree, i - 1);
		if (!message_is_of_user(m))
			continue;
		rc =
		    message_tree_text(wire_tree_get(m, STR("content")), a, out);
		break;
	}
	wire_tree_free(tree);
	return rc;
}
