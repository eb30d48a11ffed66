package io.railhead.cli.doctor;

import io.railhead.backend.BackendConfig;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The checks of the stores behind a gateway. */
final class StoreChecks {
    private StoreChecks() {}

    static List<ParallelCheck> parts(Site site) {
        List<ParallelCheck> parts = new ArrayList<>();
        boolean isOnly = site.config().backends().size() == 1;
        site.config().backends().forEach((name, store) -> {
            BackendConfig backend = store.backend();
            backend.endpoints()
                    .forEach(endpoint -> parts.add(new ParallelCheck(endpoint.toString(),
                            () -> new EndpointCheck(backend, endpoint).run())));
            Set<String> buckets = new LinkedHashSet<>(
                    site.buckets().getOrDefault(name, List.of()));
            if (store.probeBucket() != null) {
                buckets.add(store.probeBucket());
            }
            parts.add(new ParallelCheck(name + "'s credentials", () -> new AccountCheck(backend,
                    List.copyOf(buckets), site.credentials(), isOnly).run()));
        });
        return parts;
    }
}
