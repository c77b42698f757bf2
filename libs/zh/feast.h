/*
 * feast: days of the year with names of their own: 春节, 国庆, 母亲节, 清明.
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
	FEAST_COUNT
};

/*
 * feast_day(f, year, day):
 * The day (civil_days) of f in that year; false if it is not known: what goes
 * by the moon only from 1900 to 2100.  除夕 is the one that falls in that year.
 * Muslim feasts go by the civil calendar, which may be a day from what is seen.
 */
bool feast_day(enum feast f, int64_t year, int64_t *day);

/* Added to a feast counted from Easter: the one of the eastern churches. */
#define FEAST_ORTHODOX 0x100

#endif /* !ZH_FEAST_H */
