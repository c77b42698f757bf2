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
	const struct wire_tree *type = wire_tree_get(part, STR("type"));

	if (wire_tree_kind(type) != WIRE_TREE_TEXT ||
	    !str_eq(wire_tree_text(type), STR("text")))
		return NONE;
	const struct wire_tree *text = wire_tree_get(part, STR("text"));
	return wire_tree_kind(text) == WIRE_TREE_TEXT ? wire_tree_text(text)
						      : NONE;
}

enum rc
message_text(struct str content, struct arena *a, struct str *out)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_tree *tree;

	*out = NONE;
	if (content.p == NULL || wire_tree_parse(content, &tree) != RC_OK)
		return RC_OK;
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
	wire_tree_free(tree);
	if (b.n > 0)
		*out = arena_str(a, buf_str(&b));
	bool full = b.n > 0 && out->p == NULL;
	buf_free(&b);
	return full ? RC_TOOBIG : RC_OK;
}
