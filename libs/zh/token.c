/*
 * Questions about a token.
 */
#include "zh/token.h"

bool
token_is_int(const struct token *t, int lo, int hi)
{
	return t->type == TOK_NUM && !t->is_decimal && t->num >= lo &&
	    t->num <= hi;
}

bool
token_is_unit(const struct token *t, int unit)
{
	return t->type == TOK_UNIT && t->v == unit;
}

bool
token_touches(const struct token *a, const struct token *b)
{
	return a->end == b->start;
}
