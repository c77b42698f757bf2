/*
 * reader: the readings of an expression; each gives the token after it, NULL
 * if it is not there, and fills *w but for its place in the text.
 */
#ifndef ZH_READER_H
#define ZH_READER_H

#include "zh/feast.h"
#include "zh/moment.h"

/* Where a text is read. */
struct reader {
	struct when_now now;
	struct here here;
	struct scan scan;
	struct feast_seen seen;
	/* Of the reading in hand; not is_set: it has no place on the calendar.
	 */
	struct reach reach;
	bool is_set;
};

/* reader_grain(unit): The grain of an enum token_unit. */
enum when_grain reader_grain(int unit);

/*
 * when_set(w, reach, r):
 * Its grain; its bounds and w->at follow when no reading is longer.
 */
void when_set(struct when *w, struct reach reach, struct reader *r);

/* read_units(r, t, w): 上两周, 后三天: whole units beside the current one. */
const struct token *read_units(
    struct reader *r, const struct token *t, struct when *w);

/* read_stretch(r, t, w): 未来三天, 最近两周, 十分钟之内, within 2 hours. */
const struct token *read_stretch(
    struct reader *r, const struct token *t, struct when *w);

/* read_relative(r, t, w): 十分钟后, 再过一小时, 三天前下午, in 10 minutes. */
const struct token *read_relative(
    struct reader *r, const struct token *t, struct when *w);

/* read_length(r, t, w): A duration. */
const struct token *read_length(
    struct reader *r, const struct token *t, struct when *w);

/* read_range(r, t, w): A moment, or from one to another, or before, after. */
const struct token *read_range(
    struct reader *r, const struct token *t, struct when *w);

/* read_repeat(r, t, w): A repetition. */
const struct token *read_repeat(
    struct reader *r, const struct token *t, struct when *w);

/* read_vague(r, t, w): 马上, 待会儿, 最近. */
const struct token *read_vague(
    struct reader *r, const struct token *t, struct when *w);

#endif /* !ZH_READER_H */
