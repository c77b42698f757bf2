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
 */
bool feast_day(enum feast f, int64_t year, int64_t *day);

#endif /* !ZH_FEAST_H */
