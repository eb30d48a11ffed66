package io.railhead.gateway.object.delete;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.gateway.s3.S3Refusal;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Anybody may send such a document, and an event loop reads it. */
class DeletionListTest {

    private static byte[] document(int ofObject, int settings) {
        StringBuilder xml = new StringBuilder("<Delete>");
        for (int i = 0; i < settings; i++) {
            xml.append("<s").append(i).append("/>");
        }
        xml.append("<Object><Key>k</Key>");
        for (int i = 0; i < ofObject; i++) {
            xml.append("<f").append(i).append("/>");
        }
        return xml.append("</Object></Delete>").toString().getBytes(UTF_8);
    }

    @ParameterizedTest
    @ValueSource(ints = {17, 50_000})
    void whatIsSaidOfAnObjectAndOfAllIsBounded(int fields) {
        assertThat(DeletionList.parse(document(15, 16)).entries()).hasSize(1);
        assertThatThrownBy(() -> DeletionList.parse(document(fields, 0)))
                .isInstanceOf(S3Refusal.class);
        assertThatThrownBy(() -> DeletionList.parse(document(0, fields)))
                .isInstanceOf(S3Refusal.class);
    }
}
