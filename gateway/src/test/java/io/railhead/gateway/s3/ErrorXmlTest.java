package io.railhead.gateway.s3;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ErrorXmlTest {

    @Test
    void theDocumentIsS3s() {
        String xml = ErrorXml.render(new S3Refusal(S3Error.NO_SUCH_KEY), "/b/k", "R1", "H1");

        assertThat(xml).isEqualTo("""
                <?xml version="1.0" encoding="UTF-8"?>
                <Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message>\
                <Resource>/b/k</Resource><RequestId>R1</RequestId><HostId>H1</HostId></Error>""");
    }

    @Test
    void whatClientsSentIsEscaped() {
        String xml = ErrorXml.render(new S3Refusal(S3Error.INVALID_ARGUMENT, "a<b>&\"c'\r"),
                "/\u0000\u0001\uD800\uFFFE/\uD83D\uDE00", "R", "H");

        assertThat(xml).contains("<Message>a&lt;b&gt;&amp;&quot;c&apos;&#13;</Message>")
                .contains("<Resource>/\uFFFD\uFFFD\uFFFD\uFFFD/\uD83D\uDE00</Resource>");
    }

    @Test
    void everyErrorIsAnErrorAndHasItsOwnCode() {
        assertThat(S3Error.values()).allSatisfy(error -> {
            assertThat(error.status()).isBetween(400, 599);
            assertThat(error.code()).matches("[A-Za-z0-9]+");
            assertThat(error.message()).isNotBlank();
        });
        assertThat(Arrays.stream(S3Error.values()).map(S3Error::code)).doesNotHaveDuplicates();
    }

    @Test
    void aRefusalCostsNoStackTrace() {
        assertThat(new S3Refusal(S3Error.SLOW_DOWN).getStackTrace()).isEmpty();
    }
}
