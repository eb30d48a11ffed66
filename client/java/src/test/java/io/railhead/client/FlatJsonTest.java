package io.railhead.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
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
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{", "{\"a\"}", "{\"a\":}", "{\"a\":{}}", "{\"a\":[1}",
            "{\"a\":[1,]}", "{\"a\":[[1]]}",
            "{\"a\":1,}", "{\"a\":1} x", "{\"a\":\"x", "{\"a\":\"\\x\"}", "{\"a\":\"\\u00g0\"}",
            "[]", "{\"a\":nonsense}"})
    void anythingElseIsRefused(String text) {
        assertThatThrownBy(() -> FlatJson.parse(text)).isInstanceOf(IOException.class);
    }
}
