package io.railhead.gateway.events;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EventTokenTest {
    private static final String TOKEN = "0123456789abcdef";

    private static EventToken token() {
        EventToken token = new EventToken();
        token.replace(List.of((TOKEN + "\n").getBytes(UTF_8)));
        return token;
    }

    private static String basic(String pair) {
        return "Basic " + Base64.getEncoder().encodeToString(pair.getBytes(UTF_8));
    }

    @Test
    void eachWayOfSendingItIsTaken() {
        for (String header : List.of(TOKEN, "Bearer " + TOKEN, "bearer " + TOKEN,
                basic("rgw:" + TOKEN), basic(":" + TOKEN))) {
            assertThat(token().isProvedBy(header)).as(header).isTrue();
        }
    }

    @Test
    void nothingElseIs() {
        for (String header : List.of("", " ", "Bearer", "Bearer ", TOKEN + "0", "Bearer 0" + TOKEN,
                "Digest " + TOKEN, basic(TOKEN + ":x"), "Basic !!", basic("rgw:" + TOKEN + ":"))) {
            assertThat(token().isProvedBy(header)).as(header).isFalse();
        }
        assertThat(token().isProvedBy(null)).isFalse();
        assertThat(new EventToken().isProvedBy("")).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "short", "two words of a token", "umlauts-are-nö-tokens"})
    void aFileWithoutAGoodTokenIsRefused(String content) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new EventToken().replace(List.of(content.getBytes(UTF_8))))
                .withMessageContaining("gateway.events.token_file");
    }
}
