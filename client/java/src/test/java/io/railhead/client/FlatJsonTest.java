package io.railhead.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FlatJsonTest {

    @Test
    void stringsNumbersAndLiteralsAreRead() throws IOException {
        assertThat(FlatJson.parse(" {\"a\":\"x\\n\\u0041\\/\" , \"n\" : 12,\"t\":true} "))
                .containsEntry("a", "x\nA/")
                .containsEntry("n", "12")
                .containsEntry("t", "true");
        assertThat(FlatJson.parse("{}")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{", "{\"a\"}", "{\"a\":}", "{\"a\":{}}", "{\"a\":[1]}",
            "{\"a\":1,}", "{\"a\":1} x", "{\"a\":\"x", "{\"a\":\"\\x\"}", "{\"a\":\"\\u00g0\"}",
            "[]", "{\"a\":nonsense}"})
    void anythingElseIsRefused(String text) {
        assertThatThrownBy(() -> FlatJson.parse(text)).isInstanceOf(IOException.class);
    }
}
