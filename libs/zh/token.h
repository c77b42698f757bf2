/*
 * token: a text as typed words: numerals, units, days, parts of a day,
 * connectors; what means nothing for time is TOK_OTHER.
 */
#ifndef ZH_TOKEN_H
#define ZH_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

enum token_type {
	TOK_END,
	TOK_OTHER,
	TOK_NUM,     /* num */
	TOK_ORDINAL, /* 第七, 5th: num */
	TOK_HALF,    /* 半 */
	TOK_GE,      /* 个 */
	TOK_SOME,    /* 几 */
	TOK_MORE,    /* 三十多分钟; v: 1 if it may follow a unit */
	TOK_UNIT, /* v: enum token_unit; w: 1 if short (分, 日, 月); x: 1 if
		     工作日 */
	TOK_OCLOCK, /* 点, 时, o'clock; w: 1 if nothing may follow (点钟) */
	TOK_BELL,   /* 钟: 个钟, 五分半钟 */
	TOK_SHARP,  /* 整 */
	TOK_HAO,    /* 号 */
	TOK_PART,   /* part of the day; v: enum token_part */
	TOK_DAY,    /* 明天; v: days from today; w: part of the day or 0 */
	TOK_SAME,   /* 当天; v: 1 if it needs a day before it; w: part or 0 */
	TOK_EVE,    /* 春节前夕; v: days from the day before it */
	TOK_DAYS,   /* 明后天; from v to before w */
	TOK_YEAR,   /* 明年; v: years from this one */
	TOK_ERA,    /* 年代, 世纪; v: its years */
	TOK_REL,    /* 上, 这, 下; v: -2 … 2 */
	TOK_WDAY, /* v: bits of weekdays, from Monday; w: 1 if a row (一三五) */
	TOK_WEEKEND,
	TOK_WORKDAY,
	TOK_MONTH, /* v: 1–12 */
	TOK_EDGE, /* 月底, 年初, 初; v: enum token_edge; w: its unit, or -1 */
	TOK_HALF_YEAR, /* 上半年; v: 0, 1 */
	TOK_AFTER,     /* 以后; w: 1 if short (后) */
	TOK_BEFORE,    /* v: 1 if the end belongs to it (为止) */
	TOK_WITHIN,
	TOK_PASS,   /* 再过 */
	TOK_COMING, /* 未来; v: 1 if it may stand alone */
	TOK_PAST,   /* 过去, 最近; v: as above, 2 if it reaches up to now */
	TOK_TO,     /* w: 1 if it may begin (直到, until) */
	TOK_FROM,
	TOK_SINCE, /* 从明天起 */
	TOK_EVERY, /* v: 1 if 隔 */
	TOK_DAILY, /* 每天, 每晚 as one word; v: unit, w: part */
	TOK_OF,    /* 的 */
	TOK_AND,   /* 零, 又, and */
	TOK_LACK,  /* 差 */
	TOK_ABOUT, /* 大约, 左右; w: 1 if it stands behind */
	TOK_COMMA, /* w: 1 if a bracket */
	TOK_CLOCK, /* 8:30; seconds in v; w: 1 if of 24 hours; x: 1 if to
		      seconds */
	TOK_DATE,  /* 2026-03-05, 3/5; year in x (0: none), month v, day w */
	TOK_AMPM,  /* v: 0 am, 1 pm; w: 1 if p */
	TOK_FEAST, /* v: enum feast */
	TOK_FAITH, /* 东正教, 犹太: before a feast; v: what it adds to it */
	TOK_LUNAR, /* 农历 */
	TOK_FIRST, /* 初三: num; v: 1 if it names the first month (大年初三) */
	TOK_VAGUE, /* v: enum vague */
	TOK_IN,    /* in; w: 1 if within */
	TOK_FOR,
	TOK_AGO,   /* ago, earlier */
	TOK_LATER, /* later, from now */
	TOK_AT,    /* v: 1 at, 2 on, 3 the */
	TOK_PLUS,  /* half past */
};

enum token_unit {
	UNIT_SECOND,
	UNIT_MINUTE,
	UNIT_KE, /* a quarter of an hour */
	UNIT_HOUR,
	UNIT_DAY,
	UNIT_WEEK,
	UNIT_MONTH,
	UNIT_QUARTER,
	UNIT_YEAR,
	UNIT_COUNT
};

enum token_part {
	PART_NONE,
	PART_DAWN,      /* 凌晨 */
	PART_EARLY,     /* 清晨 */
	PART_MORNING,   /* 早上 */
	PART_FORENOON,  /* 上午 */
	PART_NOON,      /* 中午 */
	PART_AFTERNOON, /* 下午 */
	PART_DUSK,      /* 傍晚 */
	PART_EVENING,   /* 晚上 */
	PART_NIGHT,     /* 深夜 */
	PART_MIDNIGHT,  /* 半夜 */
	PART_DAYTIME,   /* 白天 */
	PART_COUNT
};

enum token_edge {
	EDGE_START,
	EDGE_MIDDLE,
	EDGE_END,
	EDGE_FIRST10, /* 上旬 */
	EDGE_SECOND10,
	EDGE_THIRD10,
	EDGE_SPRING,
	EDGE_SUMMER,
	EDGE_AUTUMN,
	EDGE_WINTER,
};

struct token {
	enum token_type type;
	int v, w, x;
	double num;
	int digits;      /* of a row of digits, as in struct numeral */
	bool is_ascii;   /* the numeral is of ASCII digits */
	bool is_pair;    /* the numeral has 两 */
	bool is_decimal; /* the numeral has a fraction */
	bool has_zero;   /* the numeral begins with 零 or 0 */
	bool is_latin;   /* an English word */
	size_t start, end;
};

/* token_is_int(t, lo, hi): Whether it is a whole number from lo to hi. */
bool token_is_int(const struct token *t, int lo, int hi);

/* token_is_unit(t, unit): Whether it is that enum token_unit. */
bool token_is_unit(const struct token *t, int unit);

/* token_touches(a, b): Whether b stands right behind a, without a blank. */
bool token_touches(const struct token *a, const struct token *b);

/* A word of the lexicon, simplified and in lower case. */
struct word {
	const char *text;
	enum token_type type;
	int v, w;
};

/* The lexicon's parts, each sorted by bytes. */
struct lexicon {
	const struct word *words;
	size_t n;
};
extern const struct lexicon lexicon_zh, lexicon_calendar, lexicon_feast,
    lexicon_foreign, lexicon_idiom;

/*
 * lexicon_find(s, at): The longest word at byte at of folded text, or NULL.
 * Any thread.
 */
const struct word *lexicon_find(struct str s, size_t at);

/* Folded bytes looked at together, and tokens of them. */
#define SCAN_BYTES  1024
#define SCAN_TOKENS 160
/* END tokens after the last one, so that looking ahead needs no check. */
#define SCAN_PAD 8

/* A moving view of a text as tokens. */
struct scan {
	struct str text;
	char bytes[SCAN_BYTES]; /* of the text from base, folded */
	size_t base, n;
	struct token all[1 + SCAN_TOKENS + SCAN_PAD];
	struct token *tok; /* all but the first, which is for who looks back */
	size_t ntok;
	bool is_last; /* the tokens reach the text's end */
};

/* scan_from(c, text, at): Read the tokens of text from byte at on. */
void scan_from(struct scan *c, struct str text, size_t at);

/*
 * scan_before(c, t): The folded bytes before a token, at most 64.
 */
struct str scan_before(const struct scan *c, const struct token *t);

/*
 * scan_is_tail(c, t): Whether a Han character stands right before a token that
 * belongs to it (放学以后), pronouns left out (我以后).
 */
bool scan_is_tail(const struct scan *c, const struct token *t);

/* scan_behind(c, t): The folded bytes from a token's end on. */
struct str scan_behind(const struct scan *c, const struct token *t);

#endif /* !ZH_TOKEN_H */
