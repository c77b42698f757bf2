/*
 * feast: days of the year with names of their own: 春节, 国庆, 母亲节, 清明;
 * also those of other peoples.
 */
#ifndef ZH_FEAST_H
#define ZH_FEAST_H

#include <stdbool.h>
#include <stdint.h>

enum feast {
	FEAST_NEW_YEAR,
	FEAST_VALENTINE,
	FEAST_WOMEN,
	FEAST_TREES,
	FEAST_CONSUMERS,
	FEAST_FOOLS,
	FEAST_LABOUR,
	FEAST_YOUTH,
	FEAST_CHILDREN,
	FEAST_PARTY,
	FEAST_ARMY,
	FEAST_TEACHERS,
	FEAST_NATION,
	FEAST_HALLOWEEN,
	FEAST_SINGLES,
	FEAST_CHRISTMAS_EVE,
	FEAST_CHRISTMAS,
	FEAST_SILVESTER,
	FEAST_MACAO,
	FEAST_HONGKONG,
	FEAST_MOTHERS,
	FEAST_FATHERS,
	FEAST_THANKS,
	FEAST_EVE, /* 除夕 */
	FEAST_SPRING,
	FEAST_LANTERNS,
	FEAST_DRAGON,
	FEAST_BOATS,
	FEAST_SEVENS,
	FEAST_GHOSTS,
	FEAST_MOON,
	FEAST_NINES,
	FEAST_LABA,
	FEAST_KITCHEN,
	FEAST_EASTER,
	FEAST_GOOD_FRIDAY,
	FEAST_SHROVE,
	FEAST_ASHES,
	FEAST_PALMS,
	FEAST_HOLY_THURSDAY,
	FEAST_HOLY_SATURDAY,
	FEAST_EASTER_MONDAY,
	FEAST_ASCENSION,
	FEAST_PENTECOST,
	FEAST_TRINITY,
	FEAST_CORPUS_CHRISTI,
	FEAST_FAST_BROKEN, /* 开斋节 */
	FEAST_SACRIFICE,   /* 古尔邦节 */
	FEAST_MUSLIM_NEW_YEAR,
	FEAST_ASHURA,
	FEAST_PROPHET, /* 圣纪节 */
	FEAST_ASCENT,  /* 登霄节 */
	FEAST_QADR,    /* 盖德尔夜 */
	FEAST_QINGMING,
	FEAST_SOLSTICE_WINTER,
	FEAST_SOLSTICE_SUMMER,
	FEAST_SPRING_BEGINS,
	FEAST_RAMADAN, /* 斋月 */
	FEAST_BARAAT,  /* 拜拉特夜 */
	FEAST_BOSS,
	FEAST_EARTH_DAY,
	FEAST_ST_PATRICK,
	FEAST_ALL_SAINTS,
	FEAST_ALL_SOULS,
	FEAST_EPIPHANY,
	FEAST_BOXING,
	FEAST_YOUTH_SERVICE, /* 全球青年服务日 */
	FEAST_EARTH_HOUR,
	FEAST_LENT,
	FEAST_GREAT_LENT,
	FEAST_LAZARUS,
	FEAST_HOLY_WEEK,
	FEAST_WHIT_MONDAY,
	FEAST_COUNT
};

/*
 * feast_day(f, year, day):
 * The day (civil_days) of f in that year; false if it is not known: what goes
 * by the moon only from 1900 to 2100.  除夕 is the one that falls in that year.
 * Muslim feasts go by the civil calendar, which may be a day from what is seen.
 */
bool feast_day(enum feast f, int64_t year, int64_t *day);

/* Days found before; all zero at first. */
#define FEAST_SEEN 64
struct feast_seen {
	struct {
		int64_t year, day;
		unsigned f;
		bool is_set, is_known;
	} all[FEAST_SEEN];
};

/*
 * feast_day_once(seen, f, year, day):
 * The same as feast_day(), which is not asked again for what was seen.
 */
bool feast_day_once(
    struct feast_seen *seen, enum feast f, int64_t year, int64_t *day);

/* feast_length(f): How many days it lasts; 0 if it is but a day. */
int feast_length(enum feast f);

/* feast_hour(f): The hour it takes, in seconds of its day; -1 if none. */
int feast_hour(enum feast f);

/* Added to a feast counted from Easter, or to Christmas: as kept in the east.
 */
#define FEAST_ORTHODOX 0x100

#endif /* !ZH_FEAST_H */
