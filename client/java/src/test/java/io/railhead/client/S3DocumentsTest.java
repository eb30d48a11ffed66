package io.railhead.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class S3DocumentsTest {

    @Test
    void entriesAndFieldsAreKeptApart() throws IOException {
        var page = S3Documents.parse(bytes("""
                <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
                  <IsTruncated>true</IsTruncated>
                  <Contents><Key> a &amp; b </Key><Owner><ID>x</ID></Owner><Size>5</Size></Contents>
                  <Contents><Key>c</Key><Size>6</Size></Contents>
                  <NextContinuationToken>t</NextContinuationToken>
                </ListBucketResult>"""), "Contents");

        assertThat(page.entries()).hasSize(2);
        assertThat(page.entries().getFirst()).containsEntry("Key", " a & b ")
                .containsEntry("Size",
                        "5");
        assertThat(page.require("NextContinuationToken")).isEqualTo("t");
        assertThat(page.fields()).doesNotContainKey("Key");
    }

    @Test
    void noEntityOfADtdIsResolved() {
        assertThatThrownBy(() -> S3Documents.parse(bytes("""
                <!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]><x><Key>&e;</Key></x>"""),
                "")).isInstanceOf(IOException.class);
    }

    @Test
    void aRefusalWithoutADocumentIsNamedByItsStatus() {
        assertThat(S3Documents.refusal(404, new byte[0], "").code()).isEqualTo("NotFound");
        assertThat(S3Documents.refusal(503, bytes("<html>busy"), "").isDoubtful()).isTrue();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
