package io.railhead.gateway.object.writeback;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.util.List;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lists of parts, as clients write them. */
class CompletionTest {
    private static final String ROOT = "<CompleteMultipartUpload"
            + " xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
    private static final String ONE = "<Part><ETag>00ff</ETag><PartNumber>1</PartNumber></Part>";

    private static Completion parse(String parts) {
        return Completion.parse((ROOT + parts + "</CompleteMultipartUpload>").getBytes(UTF_8));
    }

    @Test
    void blanksQuotesAndOrderOfFieldsDoNotMatter() {
        Completion list = parse("\n <Part>\n <PartNumber> 3 </PartNumber>"
                + "<ETag>&quot;00ff&quot;</ETag><ChecksumCRC32>AAAAAA==</ChecksumCRC32></Part>");
        assertThat(list.parts()).singleElement().satisfies(part -> {
            assertThat(part.number()).isEqualTo(3);
            assertThat(part.etag()).isEqualTo("00ff");
            assertThat(part.sums()).containsEntry("ChecksumCRC32", "AAAAAA==");
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "<Part/>", "<Part><PartNumber>1</PartNumber></Part>",
            "<Part><PartNumber>x</PartNumber><ETag>a</ETag></Part>", "<Other/>",
            "<Part><PartNumber>1</PartNumber><PartNumber>2</PartNumber><ETag>a</ETag></Part>",
            "<Part>"})
    void whatIsNoListOfPartsIsRefused(String parts) {
        assertThatThrownBy(() -> parse(parts))
                .asInstanceOf(InstanceOfAssertFactories.type(S3Refusal.class))
                .extracting(S3Refusal::error)
                .isEqualTo(S3Error.MALFORMED_XML);
    }

    @Test
    void moreThanTenThousandPartsAreRefused() {
        assertThatThrownBy(() -> parse(ONE.repeat(10_001))).isInstanceOf(S3Refusal.class);
    }

    /** Source: md5sum of the two digests' bytes. */
    @Test
    void theTagIsThatOfTheDigestsWithTheirNumber() {
        List<String> etags = List.of("\"d41d8cd98f00b204e9800998ecf8427e\"",
                "\"d41d8cd98f00b204e9800998ecf8427e\"");
        assertThat(Completion.etag(etags)).isEqualTo("\"5873dd45edd01f09c1ef2e7819369e8e-2\"");
        assertThat(Completion.etag(List.of("\"no digest\""))).isEmpty();
    }
}
