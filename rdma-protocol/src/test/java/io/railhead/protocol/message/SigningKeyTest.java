package io.railhead.protocol.message;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.security.GeneralSecurityException;
import java.util.HexFormat;
import java.util.Random;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

    /** The key of a long secret is hashed first; texts end before, at and behind a block's end. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 55, 56, 63, 64, 65, 138, 1000})
    void theSignatureIsTheProvidersHmac(int length) throws GeneralSecurityException {
        byte[] text = new byte[length + 1];
        new Random(length).nextBytes(text);
        byte[] signed = new byte[SigningKey.MAC_BYTES];
        for (String secret : new String[]{"", SECRET, "s".repeat(60), "s".repeat(61),
                "s".repeat(200)}) {
            Mac first = Mac.getInstance("HmacSHA256");
            first.init(new SecretKeySpec(("AWS4" + secret).getBytes(UTF_8), "HmacSHA256"));
            byte[] step = first.doFinal("20120215".getBytes(UTF_8));
            for (String next : new String[]{"us-east-1", "s3", "aws4_request"}) {
                first.init(new SecretKeySpec(step, "HmacSHA256"));
                step = first.doFinal(next.getBytes(UTF_8));
            }
            SigningKey key = SigningKey.derive(secret, "20120215", "us-east-1", "s3");
            assertThat(key.reveal()).isEqualTo(step);

            Mac mac = key.mac();
            mac.update(text, 0, length);
            key.sign(text, length, signed);
            assertThat(signed).isEqualTo(mac.doFinal());
        }
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
