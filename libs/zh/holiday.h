/*
 * holiday: days of the year that have names: 春节, 国庆, 母亲节, 清明,
 * Christian and Muslim days; and the Chinese lunisolar calendar, computed from
 * the sun and the moon.  Any thread.
 */
#ifndef ZH_HOLIDAY_H
#define ZH_HOLIDAY_H

#include <stdbool.h>
#include <stdint.h>

enum holiday {
	HOLIDAY_NEW_YEAR,
	HOLIDAY_VALENTINE,
	HOLIDAY_WOMEN,
	HOLIDAY_ARBOR_DAY,
	HOLIDAY_CONSUMERS,
	HOLIDAY_APRIL_FOOLS,
	HOLIDAY_LABOUR,
	HOLIDAY_YOUTH,
	HOLIDAY_CHILDREN,
	HOLIDAY_PARTY,
	HOLIDAY_ARMY,
	HOLIDAY_TEACHERS,
	HOLIDAY_NATIONAL,
	HOLIDAY_HALLOWEEN,
	HOLIDAY_SINGLES,
	HOLIDAY_CHRISTMAS_EVE,
	HOLIDAY_CHRISTMAS,
	HOLIDAY_NEW_YEARS_EVE,
	HOLIDAY_MACAO,
	HOLIDAY_HONGKONG,
	HOLIDAY_MOTHERS,
	HOLIDAY_FATHERS,
	HOLIDAY_THANKSGIVING,
	HOLIDAY_LUNAR_EVE, /* 除夕 */
	HOLIDAY_SPRING_FESTIVAL,
	HOLIDAY_LANTERN,
	HOLIDAY_DRAGON_HEAD,
	HOLIDAY_DRAGON_BOAT,
	HOLIDAY_QIXI,
	HOLIDAY_GHOST,
	HOLIDAY_MID_AUTUMN,
	HOLIDAY_DOUBLE_NINTH,
	HOLIDAY_LABA,
	HOLIDAY_KITCHEN_GOD,
	HOLIDAY_EASTER,
	HOLIDAY_GOOD_FRIDAY,
	HOLIDAY_SHROVE_TUESDAY,
	HOLIDAY_ASH_WEDNESDAY,
	HOLIDAY_PALM_SUNDAY,
	HOLIDAY_HOLY_THURSDAY,
	HOLIDAY_HOLY_SATURDAY,
	HOLIDAY_EASTER_MONDAY,
	HOLIDAY_ASCENSION,
	HOLIDAY_PENTECOST,
	HOLIDAY_TRINITY,
	HOLIDAY_CORPUS_CHRISTI,
	HOLIDAY_EID_AL_FITR, /* 开斋节 */
	HOLIDAY_EID_AL_ADHA, /* 古尔邦节 */
	HOLIDAY_ISLAMIC_NEW_YEAR,
	HOLIDAY_ASHURA,
	HOLIDAY_MAWLID,         /* 圣纪节 */
	HOLIDAY_ISRA_MIRAJ,     /* 登霄节 */
	HOLIDAY_LAYLAT_AL_QADR, /* 盖德尔夜 */
	HOLIDAY_QINGMING,
	HOLIDAY_WINTER_SOLSTICE,
	HOLIDAY_SUMMER_SOLSTICE,
	HOLIDAY_START_OF_SPRING,
	HOLIDAY_RAMADAN, /* 斋月 */
	HOLIDAY_BARAAT,  /* 拜拉特夜 */
	HOLIDAY_BOSS,
	HOLIDAY_EARTH_DAY,
	HOLIDAY_ST_PATRICK,
	HOLIDAY_ALL_SAINTS,
	HOLIDAY_ALL_SOULS,
	HOLIDAY_EPIPHANY,
	HOLIDAY_BOXING_DAY,
	HOLIDAY_YOUTH_SERVICE, /* 全球青年服务日 */
	HOLIDAY_EARTH_HOUR,
	HOLIDAY_LENT,
	HOLIDAY_GREAT_LENT,
	HOLIDAY_LAZARUS_SATURDAY,
	HOLIDAY_HOLY_WEEK,
	HOLIDAY_WHIT_MONDAY,
	/* The solar terms without a name above. */
	HOLIDAY_RAIN_WATER,      /* 雨水 */
	HOLIDAY_AWAKENING,       /* 惊蛰 */
	HOLIDAY_SPRING_EQUINOX,  /* 春分 */
	HOLIDAY_GRAIN_RAIN,      /* 谷雨 */
	HOLIDAY_START_OF_SUMMER, /* 立夏 */
	HOLIDAY_GRAIN_BUDS,      /* 小满 */
	HOLIDAY_AWNED_GRAIN,     /* 芒种 */
	HOLIDAY_MINOR_HEAT,      /* 小暑 */
	HOLIDAY_MAJOR_HEAT,      /* 大暑 */
	HOLIDAY_START_OF_AUTUMN, /* 立秋 */
	HOLIDAY_END_OF_HEAT,     /* 处暑 */
	HOLIDAY_WHITE_DEW,       /* 白露 */
	HOLIDAY_AUTUMN_EQUINOX,  /* 秋分 */
	HOLIDAY_COLD_DEW,        /* 寒露 */
	HOLIDAY_FROST,           /* 霜降 */
	HOLIDAY_START_OF_WINTER, /* 立冬 */
	HOLIDAY_MINOR_SNOW,      /* 小雪 */
	HOLIDAY_MAJOR_SNOW,      /* 大雪 */
	HOLIDAY_MINOR_COLD,      /* 小寒 */
	HOLIDAY_MAJOR_COLD,      /* 大寒 */
	HOLIDAY_DOUBLE_TWELVE,
	HOLIDAY_COUNT
};

/* Added to a holiday counted from Easter, or to Christmas: the Orthodox one. */
#define HOLIDAY_ORTHODOX 0x100

/*
 * holiday_day(f, year, day):
 * The day (civil_days) of f in that year; false if it is unknown: lunar ones
 * outside of 1900 to 2100.  除夕 is the one that falls in that year.  Muslim
 * holidays follow the civil calendar, which may be a day off the sighted one.
 */
bool holiday_day(enum holiday f, int64_t year, int64_t *day);

/* Days found before; all zero at first. */
#define HOLIDAY_CACHE_SIZE 64
struct holiday_cache {
	struct {
		int64_t year, day;
		unsigned f;
		bool is_set, is_known;
	} all[HOLIDAY_CACHE_SIZE];
};

/* holiday_day_cached(c, f, year, day): holiday_day() through a cache. */
bool holiday_day_cached(
    struct holiday_cache *c, enum holiday f, int64_t year, int64_t *day);

/* holiday_days(f): How many days it lasts; 0 for a single day. */
int holiday_days(enum holiday f);

/*
 * holiday_vacation(f): The days off from the holiday on (of 春节: from the day
 * before it), as they are usually announced; 0 if that varies.
 */
int holiday_vacation(enum holiday f);

/* holiday_hour(f): When its hour begins, in seconds of its day; -1: all day. */
int holiday_hour(enum holiday f);

/*
 * calendar_nth_weekday(year, month, nth, weekday):
 * The day of the nth (-1: the last) weekday, 1 Monday to 7 Sunday, of a month.
 */
int64_t calendar_nth_weekday(int64_t year, int month, int nth, int weekday);

/*
 * lunar_day(year, month, day, out):
 * The day (civil_days) of a date of the lunar year that begins in that year;
 * day 0 is the last one of the previous month.  Never a leap month.  false
 * outside of 1900 to 2100 or if there is no such date.
 */
bool lunar_day(int64_t year, int month, int day, int64_t *out);

/* lunar_leap_day(year, month, day, out): As lunar_day(), of a leap month. */
bool lunar_leap_day(int64_t year, int month, int day, int64_t *out);

/*
 * lunar_term(year, degrees, out):
 * The day in that year on which the sun's longitude reaches degrees: 15 清明,
 * 90 夏至, 270 冬至, 315 立春.  false outside of 1900 to 2100.
 */
bool lunar_term(int64_t year, int degrees, int64_t *out);

/* lunar_of_day(day, year, month, dom): The lunar date of a day. */
bool lunar_of_day(int64_t day, int64_t *year, int *month, int *dom);

#endif /* !ZH_HOLIDAY_H */
