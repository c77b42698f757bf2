/*
 * The marker is described, not written: an engine that quotes its
 * instructions is not done.
 */
#include "contract.h"

#define DONE                                                                   \
	"When all of the work is done, and only then, end your last message "  \
	"with a JSON object on a line of its own that has the member "         \
	"\"__SKILL_DONE__\" with the value true. If the result is a JSON "     \
	"object, add the member to it; else that member is all it has. Write " \
	"it once, and nothing behind it.\n"

static const char contract_interactive[] =
    "If you need something from the user, ask in your last message, without "
    "that member, and stop. You may end such a message with a fenced block "
    "that begins with ```ask_user and has a JSON object with the members "
    "\"kind\" (free_text, single_choice, multi_choice or form), \"prompt\", "
    "and \"options\" (a list of texts) or, of a form, \"fields\" (a list of "
    "objects with name, label, kind and options).\n";

static const char contract_alone[] =
    "Nobody can reply to questions: decide yourself what is not specified.\n";

static const char contract_schema[] =
    "The result is a JSON object that is valid for this JSON Schema: ";

void
contract_prompt(
    struct str prompt, struct str mode, struct str schema, struct buf *out)
{
	bool interactive = mode.n == 0 || str_eq(mode, STR("interactive"));

	buf_put_str(out, prompt);
	buf_puts(out, "\n\n---\n" DONE);
	buf_puts(out, interactive ? contract_interactive : contract_alone);
	if (schema.n == 0)
		return;
	buf_puts(out, contract_schema);
	buf_put_str(out, schema);
	buf_putc(out, '\n');
}

void
contract_reply(struct str content, struct buf *out)
{
	buf_put_str(out, content);
	buf_puts(out, "\n\n---\n" DONE);
}
