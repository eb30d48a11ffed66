package io.railhead.protocol.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HexFormat;
import org.junit.jupiter.api.Test;

final class SigningKeyTest {
    private static final String SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
    private static final String SIGNATURE = "0123456789abcdef".repeat(4);
    private static final String SESSION = "00".repeat(16);

    /** "Derive a signing key for Signature Version 4" in the AWS General Reference. */
    @Test
    void theKeyIsThatOfTheDocumentedExample() {
        assertThat(HexFormat.of()
                .formatHex(
                        SigningKey.derive(SECRET, "20120215", "us-east-1", "iam").reveal()))
                .isEqualTo("f4780e2d9f65fa895f9c67b32ce1baf0b0d8a43505a000a1a9e090d414db404d");
    }

    @Test
    void aMacOfItsOwnSignsTheSame() {
        SigningKey key = SigningKey.derive(SECRET, "20120215", "us-east-1", "s3");

        assertThat(key.mac().doFinal(new byte[]{'a'})).isEqualTo(key.sign("a"));
        assertThat(key).hasToString("SigningKey[****]");
    }

    @Test
    void aSessionsKeyIsReadFromTheHeaderThatOpenedIt() {
        String header = "AWS4-HMAC-SHA256 Credential=AK/20120215/us-east-1/s3/aws4_request, "
                + "SignedHeaders=host;x-amz-date, Signature=" + SIGNATURE;

        assertThat(SessionKey.ofOpen(SECRET, header, SESSION)).isEqualTo(SessionKey.derive(
                SigningKey.derive(SECRET, "20120215", "us-east-1", "s3").reveal(), SIGNATURE,
                SESSION));
        assertThatThrownBy(() -> SessionKey.ofOpen(SECRET, "AWS AK:x", SESSION))
                .isInstanceOf(IllegalStateException.class);
    }
}
