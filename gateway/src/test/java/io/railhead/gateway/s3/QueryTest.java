package io.railhead.gateway.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class QueryTest {

    @Test
    void namesAndValuesAreDecodedAndPlusSignsStay() {
        Query query = Query.parse("a=1+%2B2&&b&%63=%C3%A9&a=3");

        assertThat(query.size()).isEqualTo(4);
        assertThat(query.get("a")).isEqualTo("1++2");
        assertThat(query.getSpaced("a")).isEqualTo("1 +2");
        assertThat(query.get("b")).isEmpty();
        assertThat(query.get("c")).isEqualTo("é");
        assertThat(query.get("d")).isNull();
    }

    @Test
    void rawPartsAreThoseThatCame() {
        List<String> parts = new ArrayList<>();

        Query.parse("%61=b=%63+d&e&=f").forEachRaw((name, value) -> parts.add(name + " " + value));

        assertThat(parts).containsExactly("%61 b=%63+d", "e ", " f");
    }

    @Test
    void aSingleValueIsBytesWithSpacesForPlusSigns() {
        assertThat(Query.parse("a=%C3%A9+b").single("a")).isEqualTo("\u00c3\u00a9 b");
        assertThat(Query.parse("a").single("a")).isEmpty();
        assertThat(Query.parse(null).single("a")).isNull();
        assertThatThrownBy(() -> Query.parse("a=1&%61=1").single("a"))
                .isInstanceOfSatisfying(S3Refusal.class, e -> assertThat(e.error())
                        .isEqualTo(S3Error.AUTHORIZATION_QUERY_PARAMETERS_ERROR));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a=%", "a=%4", "%zz=1", "a=%FF", "%C3=1", "a=\u0100"})
    void whatCannotBeReadIsOneError(String raw) {
        assertThatThrownBy(() -> Query.require(raw))
                .isInstanceOfSatisfying(S3Refusal.class,
                        e -> assertThat(e.error()).isEqualTo(S3Error.INVALID_URI))
                .hasMessageContaining("Couldn't parse the specified URI.");
    }
}
