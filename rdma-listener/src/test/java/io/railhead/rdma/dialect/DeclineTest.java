package io.railhead.rdma.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.rdma.dialect.Decline.Answer;
import io.railhead.rdma.dialect.Decline.ServeInline;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DeclineTest {

    @Test
    void aDeclinedGetBringsTheObjectInItsBody() {
        assertThat(Dialect.AMZ.decline(Operation.GET, PutDecline.ERROR))
                .isEqualTo(new ServeInline());
    }

    @ParameterizedTest
    @EnumSource(value = Operation.class, names = {"PUT", "PART"})
    void aDeclinedUploadFailsClosed(Operation operation) {
        assertThat(Dialect.AMZ.decline(operation, PutDecline.ERROR)).isEqualTo(
                new Answer(501, Map.of("x-amz-rdma-reply", "501"), "RDMANotSupported"));
    }

    @Test
    void aDeclinedUploadCanTakeTheDraftsForm() {
        assertThat(Dialect.AMZ.decline(Operation.PUT, PutDecline.DRAFT)).isEqualTo(
                new Answer(200, Map.of("x-amz-rdma-reply", "501"), "RDMANotSupported"));
    }

    @ParameterizedTest
    @EnumSource(value = Dialect.class, names = {"AMZ", "HIPOBJ"}, mode = EnumSource.Mode.EXCLUDE)
    void allOtherDialectsGetAnErrorEvenForGet(Dialect dialect) {
        for (PutDecline form : PutDecline.values()) {
            assertThat(dialect.decline(Operation.GET, form))
                    .isEqualTo(new Answer(501, Map.of(), "RDMANotSupported"));
            assertThat(dialect.decline(Operation.PUT, form))
                    .isEqualTo(new Answer(501, Map.of(), "RDMANotSupported"));
        }
    }

    @Test
    void hipobjHearsThatItsProtocolIsUnsupported() {
        assertThat(Dialect.HIPOBJ.decline(Operation.GET, PutDecline.ERROR)).isEqualTo(new Answer(
                501, Map.of("x-amz-rdma-protocol-status", "unsupported"), "RDMANotSupported"));
    }

    @Test
    void aMalformedTokenIsABadRequest() {
        assertThat(Decline.MALFORMED).isEqualTo(new Answer(400, Map.of(), "InvalidRDMAToken"));
    }

    @Test
    void aSuccessNamesItsStatusAndBytes() {
        assertThat(new Reply(206, 5_000_000_000L).headers()).isEqualTo(Map.of("x-amz-rdma-reply",
                "206", "x-amz-rdma-bytes-transferred", "5000000000"));
        assertThatThrownBy(() -> new Reply(204, 0)).hasMessageContaining("httpStatus");
        assertThatThrownBy(() -> new Reply(200, -1)).hasMessageContaining("bytesTransferred");
    }
}
