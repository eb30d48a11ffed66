package io.railhead.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FlatJsonTest {

    @Test
    void stringsNumbersAndLiteralsAreRead() throws IOException {
        assertThat(FlatJson.parse(" {\"a\":\"x\\n\\u0041\\/\" , \"n\" : 12,\"t\":true} "))
                .containsEntry("a", List.of("x\nA/"))
                .containsEntry("n", List.of("12"))
                .containsEntry("t", List.of("true"));
        assertThat(FlatJson.parse("{\"a\":[\"x\", \"y\"],\"n\":[1,2],\"e\":[]}"))
                .containsEntry("a", List.of("x", "y"))
                .containsEntry("n", List.of("1", "2"))
                .containsEntry("e", List.of());
        assertThat(FlatJson.parse("{}")).isEmpty();
        assertThat(FlatJson.parse("{\"a\":{}}")).isEmpty();
    }

    @Test
    void innerFieldsAreNamedByTheOuterAndObjectsInListsArePassedOver() throws IOException {
        assertThat(FlatJson.parse(
                "{\"a\": {\"b\": {\"c.d\": 1}, \"e\": [2]}, \"f\": [{\"g\": {\"h\": []}}, 3], \"i\": 4}"))
                .containsExactly(Map.entry("a.b.c.d", List.of("1")),
                        Map.entry("a.e", List.of("2")), Map.entry("f", List.of("3")),
                        Map.entry("i", List.of("4")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{", "{\"a\"}", "{\"a\":}", "{\"a\":[1}",
            "{\"a\":[1,]}", "{\"a\":[[1]]}",
            "{\"a\":1,}", "{\"a\":1} x", "{\"a\":\"x", "{\"a\":\"\\x\"}", "{\"a\":\"\\u00g0\"}",
            "[]", "{\"a\":nonsense}", "{\"a\":{\"b\":{\"c\":{}}}}",
            "{\"a\":[{\"b\":{\"c\":{}}}]}", "{\"a\":{\"b\":1}"})
    void anythingElseIsRefused(String text) {
        assertThatThrownBy(() -> FlatJson.parse(text)).isInstanceOf(IOException.class);
    }
}
