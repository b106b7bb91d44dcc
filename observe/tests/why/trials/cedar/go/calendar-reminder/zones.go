package main

import "time"

var names = []string{"Europe/Berlin", "America/New_York", "Asia/Tokyo", "Australia/Sydney", "America/Sao_Paulo",
	"Africa/Cairo", "Asia/Kolkata", "Pacific/Auckland", "Europe/London", "America/Los_Angeles"}

type zones struct {
	keep bool
	kept map[string]*time.Location
}

func newZones(keep bool) *zones {
	return &zones{keep, map[string]*time.Location{}}
}

func (z *zones) localTime(t time.Time, person int) (time.Time, error) {
	name := names[person%len(names)]
	if l := z.kept[name]; l != nil {
		return t.In(l), nil
	}
	l, err := time.LoadLocation(name)
	if err != nil {
		return t, err
	}
	if z.keep {
		z.kept[name] = l
	}
	return t.In(l), nil
}
