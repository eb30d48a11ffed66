package io.railhead.cli.doctor;

import static io.railhead.cli.doctor.Finding.fail;
import static io.railhead.cli.doctor.Finding.ok;

import io.railhead.gateway.config.GatewayConfig.Issuer;
import io.railhead.gateway.config.GatewayConfig.WebIdentity;
import io.railhead.gateway.sts.IssuerTrial;
import java.io.IOException;
import java.util.List;

/** Checks whether the keys of each issuer of web identities can be read. */
final class IssuerChecks {
    private IssuerChecks() {}

    static List<ParallelCheck> parts(Site site) {
        WebIdentity webIdentity = site.config().gateway().webIdentity();
        return webIdentity == null
                ? List.of()
                : webIdentity.issuers()
                        .values()
                        .stream()
                        .map(issuer -> new ParallelCheck("issuer " + issuer.issuer(),
                                () -> List.of(look(issuer))))
                        .toList();
    }

    private static Finding look(Issuer issuer) {
        String subject = "gateway.web_identity";
        String why = "without its keys no token of this issuer is exchanged";
        String mend = "see whether its address answers from here, and whether ca and token_file are"
                + " those it asks for";
        try {
            long keys = IssuerTrial.keys(issuer);
            return keys == 0
                    ? fail(subject, issuer.issuer() + " has no public key", why, mend)
                    : ok(subject, issuer.issuer() + " has " + keys + " key(s)", why);
        } catch (IOException e) {
            return fail(subject, issuer.issuer() + ": " + e.getMessage(), why, mend);
        }
    }
}
