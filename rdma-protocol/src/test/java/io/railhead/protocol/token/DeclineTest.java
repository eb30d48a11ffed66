package io.railhead.protocol.token;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.protocol.token.Decline.Answer;
import io.railhead.protocol.token.Decline.ServeInline;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class DeclineTest {
    private static final Dialect AMZ = new AmzDialect(PutDecline.ERROR, false);

    @Test
    void aDeclinedGetBringsTheObjectInItsBody() {
        assertThat(AMZ.decline(TokenOperation.GET)).isEqualTo(new ServeInline());
    }

    @ParameterizedTest
    @EnumSource(value = TokenOperation.class, names = {"PUT", "PART"})
    void aDeclinedUploadFailsClosed(TokenOperation tokenOperation) {
        assertThat(AMZ.decline(tokenOperation))
                .isEqualTo(new Answer(501, Map.of("x-amz-rdma-reply", "501")));
    }

    @Test
    void aDeclinedUploadCanTakeTheDraftsForm() {
        assertThat(new AmzDialect(PutDecline.DRAFT, false).decline(TokenOperation.PUT))
                .isEqualTo(new Answer(200, Map.of("x-amz-rdma-reply", "501")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"x-rdma-info", "x-cuobj-rdma-descr", "x-amz-meta-rdma-token",
            "x-scal-rdma"})
    void allOtherDialectsGetAnErrorEvenForGet(String header) {
        for (Dialects dialects : new Dialects[]{DialectsTest.USUAL, DialectsTest.ALL}) {
            for (TokenOperation tokenOperation : new TokenOperation[]{TokenOperation.GET,
                    TokenOperation.PUT}) {
                assertThat(dialect(dialects, header).decline(tokenOperation))
                        .isEqualTo(new Answer(501, Map.of()));
            }
        }
    }

    @Test
    void hipobjHearsThatItsProtocolIsUnsupported() {
        assertThat(dialect(DialectsTest.USUAL, "x-amz-rdma-protocol").decline(TokenOperation.GET))
                .isEqualTo(
                        new Answer(501, Map.of("x-amz-rdma-protocol-status", "unsupported")));
    }

    @Test
    void aSuccessNamesItsStatusAndBytes() {
        assertThat(new DialectReply(206, 5_000_000_000L).headers())
                .isEqualTo(Map.of("x-amz-rdma-reply",
                        "206", "x-amz-rdma-bytes-transferred", "5000000000"));
        assertThatThrownBy(() -> new DialectReply(204, 0)).hasMessageContaining("httpStatus");
        assertThatThrownBy(() -> new DialectReply(200, -1))
                .hasMessageContaining("bytesTransferred");
    }

    private static Dialect dialect(Dialects dialects, String header) {
        String token = Token.loopback(4096, 4096, 1, 1).format();
        return switch (dialects.recognise(TokenOperation.GET, Map.of(header, token)::get)) {
            case Recognition.None _ -> throw new AssertionError("not recognised: " + header);
            case Recognition.Accepted(Dialect dialect, var _, var _) -> dialect;
            case Recognition.Paired(Dialect dialect, var _, var _) -> dialect;
            case Recognition.Declined(Dialect dialect, var _) -> dialect;
            case Recognition.Malformed(Dialect dialect, var _) -> dialect;
        };
    }
}
