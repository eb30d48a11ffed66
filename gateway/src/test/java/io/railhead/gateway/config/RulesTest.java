package io.railhead.gateway.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RulesTest {

    private static Rules.Entry entry(@Nullable String bucket, @Nullable String prefix,
            @Nullable String tenant, String backend) {
        return new Rules.Entry(new Match(bucket, prefix, tenant),
                new Rule(backend, new Freshness.Strong(), Duration.ZERO, CacheMode.READS, true,
                        ByteCount.UNLIMITED, false, false, false, false));
    }

    @Test
    void theFirstThatMatchesHolds() {
        Rules rules = new Rules(List.of(entry("b", "p/", null, "1"), entry(null, null, "t", "2"),
                entry("b", null, null, "3"), entry(null, null, null, "4")));

        assertThat(rules.match("t", "b", "p/k").backend()).isEqualTo("1");
        assertThat(rules.match("t", "b", "q/k").backend()).isEqualTo("2");
        assertThat(rules.match("u", "b", "q/k").backend()).isEqualTo("3");
        assertThat(rules.match("u", "c", "p/k").backend()).isEqualTo("4");
        assertThat(rules.match("t", null, "").backend()).isEqualTo("2");
        assertThat(rules.match("u", null, "").backend()).isEqualTo("4");
    }

    @Test
    void thereIsAlwaysARuleAtTheEnd() {
        assertThatThrownBy(() -> new Rules(List.of(entry("b", null, null, "1"))))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @CsvSource({"a,a,true", "a,b,false", "*,abc,true", "*,'',true", "a*,abc,true", "*c,abc,true",
            "a*c,abc,true", "a*c,abcd,false", "a**c,ac,true", "*b*,abc,true", "*x*,abc,false",
            "a*b*c,aXbYc,true", "a*b*c,aXcYb,false", "ab,a,false", "a,ab,false",
            "*aab,aaaab,true"})
    void aStarStandsForAnyCharacters(String glob, String text, boolean matches) {
        assertThat(Globs.matches(glob, text)).isEqualTo(matches);
    }
}
