/*
 * lexer: a text as typed words: numerals, units, days, parts of a day,
 * connectors; what means nothing for time is TOK_OTHER.  Also the cardinals
 * and the lexicon that the lexer reads.
 */
#ifndef ZH_LEXER_H
#define ZH_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

enum token_type {
	TOK_END,
	TOK_OTHER,
	TOK_NUM,     /* num; x: month * 100 + day if it may be one (4.5) */
	TOK_ORDINAL, /* 第七, 5th: num; negative from the end: 倒数第二 */
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
	TOK_DAY_PART, /* v: enum day_part */
	TOK_DAY,      /* 明天; v: days from today; w: enum day_part or 0 */
	/* 当天; v: 1 if a day must precede it, 2: a year; w: part or 0 */
	TOK_SAME,
	TOK_EVE, /* 春节前夕; v: days from the day before it; w: part or 0 */
	TOK_DAYS, /* 明后天; from v to before w */
	TOK_YEAR, /* 明年; v: years from this one */
	TOK_ERA,  /* 年代, 世纪; v: its years */
	TOK_REL,  /* 上, 这, 下; v: -2 … 2 */
	TOK_WDAY, /* v: bits of weekdays, from Monday; w: 1 if a row (一三五) */
	TOK_WEEKEND,
	TOK_WORKDAY,
	TOK_MONTH, /* v: 1–12 */
	TOK_EDGE, /* 月底, 年初, 初; v: enum token_edge; w: its unit, or -1 */
	TOK_HALF_YEAR, /* 上半年; v: 0, 1 */
	TOK_AFTER,     /* 以后; w: 1 if short (后) */
	TOK_BEFORE,    /* v: 1 if the end belongs to it (为止) */
	TOK_WITHIN,    /* v: 1 if 期间; w: 1 if short (内) */
	TOK_PASS,      /* 再过 */
	TOK_COMING,    /* 未来; v: 1 if it may stand alone */
	TOK_PRECEDING, /* 过去, 最近; v: as above, 2 if it reaches up to now */
	TOK_TO,        /* w: 1 if it may begin (直到, until) */
	TOK_FROM,      /* w: 1 if since; v: 1 if no earlier than */
	TOK_SINCE,     /* 从明天起 */
	TOK_EVERY,     /* v: 1 if 隔 */
	TOK_DAILY,   /* 每天, 每晚 as one word; v: unit, w: enum day_part */
	TOK_OF,      /* 的 */
	TOK_AND,     /* 零, 又, and */
	TOK_LACK,    /* 差 */
	TOK_ABOUT,   /* 大约, 左右; w: 1 if it follows the number */
	TOK_COMMA,   /* w: 1 if a bracket */
	TOK_CLOCK,   /* 8:30; seconds in v; w: 1 if of 24 hours; x: 1 if to
			seconds; is_zoned: num minutes east of UTC */
	TOK_DATE,    /* 2026-03-05, 3/5; year in x (0: none), month v, day w (0:
			none); is_decimal: written with a point */
	TOK_AMPM,    /* v: 0 am, 1 pm; w: 1 if p */
	TOK_HOLIDAY, /* v: enum holiday; w: 1 if also a word of weather */
	TOK_RELIGION, /* 东正教 before a holiday; v: flags to add to it */
	TOK_LUNAR,    /* 农历 */
	TOK_FIRST, /* 初三: num; v: 1 if it names the first month (大年初三) */
	TOK_ADVERB, /* v: enum time_adverb */
	TOK_IN,     /* in; w: 1 if within */
	TOK_FOR,
	TOK_AGO,   /* ago, earlier */
	TOK_LATER, /* later, from now */
	TOK_AT,    /* v: 1 at, 2 on, 3 the */
	TOK_PLUS,  /* half past */
	TOK_OR,
	TOK_QUARTER,  /* Q3: v */
	TOK_BETWEEN,  /* 之间 */
	TOK_HEAD,     /* 头三天 */
	TOK_YEARS,    /* 今明两年; from v to before w */
	TOK_VACATION, /* 长假 after a holiday; v: 1 if 节气 */
	TOK_LEAP,     /* 闰 before a month */
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

enum day_part {
	DAY_PART_NONE,
	DAY_PART_DAWN,      /* 凌晨 */
	DAY_PART_EARLY,     /* 清晨 */
	DAY_PART_MORNING,   /* 早上 */
	DAY_PART_FORENOON,  /* 上午 */
	DAY_PART_NOON,      /* 中午 */
	DAY_PART_AFTERNOON, /* 下午 */
	DAY_PART_DUSK,      /* 傍晚 */
	DAY_PART_EVENING,   /* 晚上 */
	DAY_PART_NIGHT,     /* 深夜 */
	DAY_PART_MIDNIGHT,  /* 半夜 */
	DAY_PART_DAYTIME,   /* 白天 */
	DAY_PART_COUNT
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
	EDGE_HALF1, /* 上半月 */
	EDGE_HALF2,
};

/* Words for a time that is not given exactly: 马上, 待会儿, 最近. */
enum time_adverb {
	ADVERB_NOW,
	ADVERB_IMMEDIATELY,
	ADVERB_SOON,
	ADVERB_IN_A_WHILE,
	ADVERB_LATER,
	ADVERB_JUST_NOW,
	ADVERB_RECENTLY,
	ADVERB_RECENT_YEARS,
	ADVERB_SOME_DAY,
	ADVERB_FUTURE,
	ADVERB_FORMERLY,
	ADVERB_COUNT
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
	bool is_zoned;   /* a clock time with its offset from UTC */
	size_t start, end;
};

/* token_is_int(t, lo, hi): Whether it is a whole number from lo to hi. */
bool token_is_int(const struct token *t, int lo, int hi);

/* token_is_unit(t, unit): Whether it is that enum token_unit. */
bool token_is_unit(const struct token *t, int unit);

/* token_is_pair_row(t): 七八: not 78, but seven or eight. */
bool token_is_pair_row(const struct token *t);

/* token_touches(a, b): Whether b follows a without a blank. */
bool token_touches(const struct token *a, const struct token *b);

/* ---- the lexicon ---- */

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
extern const struct lexicon lexicon_words, lexicon_holidays;
/* Words with a numeral that does not count: 一起, 万一, 四舍五入. */
extern const struct lexicon lexicon_idioms;

/*
 * lexicon_find(s, at): The longest word at byte at of folded text, or NULL.
 * Any thread.
 */
const struct word *lexicon_find(struct str s, size_t at);

/* lexicon_longest(l, s, at): As lexicon_find(), of the words of l. */
const struct word *lexicon_longest(
    const struct lexicon *l, struct str s, size_t at);

/* ---- cardinals: digits, Han numerals, both mixed, English words ---- */

/* Characters of one numeral; it ends there. */
#define NUMERAL_CHARS_MAX 64

struct numeral {
	double value;
	size_t end;
	int digits;      /* of a row of digits (2026, 二〇二六); else 0 */
	bool is_ascii;   /* begins with an ASCII digit or '.' */
	bool is_pair;    /* has 两: never the name of a month or weekday */
	bool is_decimal; /* has a fraction */
	bool has_zero;   /* begins with a leading zero: 05, 零五 */
	bool is_approximate; /* 十几, 二三十: of number.h */
};

/*
 * numeral_parse(s, at, out):
 * The longest cardinal at byte at, without sign.  A decimal point is '.', never
 * 点, which may mean o'clock.
 */
bool numeral_parse(struct str s, size_t at, struct numeral *out);

/* numeral_may_begin(s, at): Whether a Han numeral is at byte at. */
bool numeral_may_begin(struct str s, size_t at);

/*
 * numeral_fraction(s, at, dst, end):
 * The digits at byte at as a decimal fraction (14: .14), unless a Han unit
 * follows them (点二十).
 */
bool numeral_fraction(struct str s, size_t at, double *dst, size_t *end);

/* numeral_scale(s, at, end): 百, 千, 万, 亿 at byte at as a factor; else 0. */
double numeral_scale(struct str s, size_t at, size_t *end);

/* numeral_digit(s, at): The Han digit at byte at, 0 to 9; else -1. */
int numeral_digit(struct str s, size_t at);

/* numeral_is_letter(s, at), numeral_is_digit(s, at): Of the ASCII ones. */
bool numeral_is_letter(struct str s, size_t at);
bool numeral_is_digit(struct str s, size_t at);

/* ---- scanning ---- */

/* Folded bytes scanned together, and tokens of them. */
#define TOKEN_SCAN_BYTES 1024
#define TOKEN_SCAN_MAX   160
/* END tokens after the last one, so that looking ahead needs no check. */
#define TOKEN_SCAN_PAD 8

/* A moving view of a text as tokens. */
struct token_scan {
	struct str text;
	char bytes[TOKEN_SCAN_BYTES]; /* of the text from base, folded */
	size_t base, n;
	struct token all[1 + TOKEN_SCAN_MAX + TOKEN_SCAN_PAD];
	struct token *tok; /* all but the first, so that tok[-1] is valid */
	size_t ntok;
	bool is_last; /* the tokens reach the text's end */
};

/* token_scan_from(c, text, at): Scan text from byte at on. */
void token_scan_from(struct token_scan *c, struct str text, size_t at);

/* token_scan_before(c, t): The folded bytes before a token, at most 64. */
struct str token_scan_before(const struct token_scan *c, const struct token *t);

/* token_scan_after(c, t): The folded bytes from a token's end on. */
struct str token_scan_after(const struct token_scan *c, const struct token *t);

/*
 * token_scan_is_suffix(c, t): Whether the token belongs to a Han character
 * right before it (放学以后), pronouns excepted (我以后).
 */
bool token_scan_is_suffix(const struct token_scan *c, const struct token *t);

#endif /* !ZH_LEXER_H */
