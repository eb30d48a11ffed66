package io.railhead.backend;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RedactedQueryTest {

    @ParameterizedTest
    @ValueSource(strings = {"X-Amz-Signature=SECRET", "x-amz-signature=SECRET",
            "X%2DAmz%2DSignature=SECRET", "X%252DAmz%252DSignature=SECRET",
            "X-Amz-Credential=SECRET%2F20260101%2Fus-east-1", "X-Amz-Security-Token=SECRET",
            "x%2damz%2dsecurity%2dtoken=SECRET", "Signature=SECRET", "%53ignature=SECRET",
            "AWSAccessKeyId=SECRET", "WebIdentityToken=SECRET", "X-Amz-Signature%3DSECRET",
            "X-Amz-Signature=a=SECRET",
            "redirect=http%3A%2F%2Fh%2Fk%3FX-Amz-Signature%3DSECRET", "X-Amz-Signature=SECRET%zz"})
    void noSpellingOfASecretIsShown(String parameter) {
        assertThat(RedactedQuery.of("versionId=7&" + parameter + "&acl")).startsWith("versionId=7&")
                .endsWith("&acl")
                .doesNotContain("SECRET")
                .contains("****");
    }

    @Test
    void everythingElseIsShownAsItCame() {
        String query = "list-type=2&prefix=a%2Fb+c&X-Amz-Date=20260101T000000Z&%zz&&acl=";
        assertThat(RedactedQuery.of(query)).isEqualTo(query);
        assertThat(RedactedQuery.of(null)).isEmpty();
    }

    @Test
    void aTargetShowsNoSecret() {
        assertThat(new Target("b", "k", "X-Amz-Signature=SECRET&acl")).asString()
                .contains("acl")
                .doesNotContain("SECRET");
    }
}
