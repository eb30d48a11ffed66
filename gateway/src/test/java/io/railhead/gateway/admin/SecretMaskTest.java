package io.railhead.gateway.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SecretMaskTest {
    private static final String CANARY = "CaNaRy7f3d";
    private final SecretMask mask = new SecretMask(List::of);

    @ParameterizedTest
    @ValueSource(strings = {"GET /b/k?X-Amz-Signature=CaNaRy7f3d&a=b",
            "X-Amz-Security-Token%3DCaNaRy7f3d", "SignedHeaders=host, Signature=CaNaRy7f3d",
            "{\"authorization\":\"AWS4 CaNaRy7f3d\"}", "Authorization: Bearer CaNaRy7f3d",
            "secret_key: CaNaRy7f3d", "{\"secretKey\":\"CaNaRy7f3d\"}", "token=CaNaRy7f3d",
            "http://u:CaNaRy7f3d@proxy:80/", "session_token: CaNaRy7f3d", "Cookie: CaNaRy7f3d",
            "-----BEGIN EC PRIVATE KEY-----\nCaNaRy7f3d\n-----END EC PRIVATE KEY-----"})
    void whatHasTheFormOfASecretIsMasked(String text) {
        assertThat(mask.of(text)).doesNotContain(CANARY).contains("****");
    }

    @Test
    void whatTheGatewayKnowsAsSecretIsMaskedWhereverItStands() {
        assertThat(new SecretMask(() -> List.of(CANARY, "ab")).of("ab of " + CANARY + "!"))
                .isEqualTo("ab of ****!");
    }

    @Test
    void ordinaryTextsStay() {
        for (String text : List.of("railhead_rdma_requests_total{dialect=\"amz\"} 1.0",
                "{\"gateway.events.enabled\":\"true\"}", "http://store.example:8080",
                "    at io.railhead.gateway.rdma.TokenAdmission.admit(TokenAdmission.java:1)")) {
            assertThat(mask.of(text)).isEqualTo(text);
        }
    }
}
