package io.railhead.gateway;

import java.net.http.HttpResponse;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * How the S3-over-RDMA clients that exist ask, and how each reads its answer: what its source (as
 * of autumn 2026) looks at, and nothing else. The fabric did its part or did not; only the answer
 * tells the client which.
 */
public enum RdmaClients {
    /** minio-cpp since August 2026, and with it minio-go, minio-py and warp. */
    MINIO(Form.AMZ, Ranges.SOMETIMES) {
        @Override
        public Verdict get(Asked asked, Reading answer) {
            if (answer.isReply(200) || answer.isReply(206)) {
                return answer.moved() == 0 ? Verdict.ASKS_AGAIN : Verdict.TAKES_MEMORY;
            }
            boolean declined = answer.isReply(501) || (answer.isSuccess() && !answer.hasReply());
            return declined ? Verdict.ASKS_AGAIN : Verdict.FAILS;
        }

        @Override
        public Verdict put(Asked asked, Reading answer) {
            return declinedOr(answer, storedIfEtag(answer));
        }
    },
    /** The form before, with address and size behind the token. */
    MINIO_SUFFIXED(Form.AMZ_SUFFIXED, Ranges.SOMETIMES) {
        @Override
        public Verdict get(Asked asked, Reading answer) {
            return MINIO.get(asked, answer);
        }

        @Override
        public Verdict put(Asked asked, Reading answer) {
            return MINIO.put(asked, answer);
        }
    },
    MINIO_RS(Form.AMZ, Ranges.SOMETIMES) {
        @Override
        public Verdict get(Asked asked, Reading answer) {
            return declinedOr(answer, answer.isSuccess() && answer.hasReply()
                    ? Verdict.TAKES_MEMORY
                    : Verdict.FAILS);
        }

        @Override
        public Verdict put(Asked asked, Reading answer) {
            return declinedOr(answer, storedIfEtag(answer));
        }
    },
    /** NIXL's vendor-neutral engine: status and reply agree, and no more bytes than asked for. */
    NIXL(Form.AMZ, Ranges.ALWAYS) {
        @Override
        public Verdict get(Asked asked, Reading answer) {
            boolean agree = answer.isReply(answer.status())
                    && (answer.status() == 200 || answer.status() == 206);
            return agree && answer.moved() >= 0 && answer.moved() <= asked.bytes()
                    && answer.bodyBytes() == 0 ? Verdict.TAKES_MEMORY : Verdict.FAILS;
        }

        @Override
        public Verdict put(Asked asked, Reading answer) {
            return answer.isReply(200) ? storedIfEtag(answer) : Verdict.FAILS;
        }
    },
    /** Looks whether there is a reply, not what it says. */
    NIXL_EVERPURE(Form.AMZ, Ranges.ALWAYS) {
        @Override
        public Verdict get(Asked asked, Reading answer) {
            return takenIf(answer.isSuccess() && answer.hasReply());
        }

        @Override
        public Verdict put(Asked asked, Reading answer) {
            return takenIf(answer.isSuccess() && answer.hasReply());
        }
    },
    /** Looks at the status and at nothing else. */
    NIXL_DELL(Form.RDMA_INFO, Ranges.ALWAYS) {
        @Override
        public Verdict get(Asked asked, Reading answer) {
            return takenIf(answer.isSuccess());
        }

        @Override
        public Verdict put(Asked asked, Reading answer) {
            return takenIf(answer.isSuccess());
        }
    },
    /** NVIDIA's multi-storage-client; kvikio and PyTorch's proposal read the same. */
    MULTI_STORAGE_CLIENT(Form.AMZ_SUFFIXED, Ranges.SOMETIMES) {
        @Override
        public Verdict get(Asked asked, Reading answer) {
            return takenIf(answer.isSuccess() && answer.hasReply() && !answer.isReply(501));
        }

        @Override
        public Verdict put(Asked asked, Reading answer) {
            return get(asked, answer);
        }
    },
    /** Takes the count from Content-Range, so it always sends a Range. */
    CLOUDIAN(Form.AMZ, Ranges.ALWAYS) {
        @Override
        public Verdict get(Asked asked, Reading answer) {
            if (!answer.isSuccess()) {
                return Verdict.FAILS;
            }
            if (!answer.hasReply() || answer.isReply(501)) {
                return Verdict.TAKES_BODY;
            }
            return takenIf((answer.isReply(200) || answer.isReply(204) || answer.isReply(206))
                    && answer.hasContentRange());
        }

        @Override
        public Verdict put(Asked asked, Reading answer) {
            if (answer.isSuccess() && answer.isReply(501)) {
                return Verdict.ASKS_AGAIN;
            }
            return takenIf(answer.isReply(200));
        }
    },
    /** Dell's storage performance tool reads whole objects: the count must be the size. */
    DELL_SPT(Form.AMZ, Ranges.NEVER) {
        @Override
        public Verdict get(Asked asked, Reading answer) {
            if (!answer.isSuccess()) {
                return Verdict.FAILS;
            }
            if (!answer.hasReply()) {
                return Verdict.TAKES_BODY;
            }
            return takenIf(answer.moved() == asked.bytes() && answer.bodyBytes() == 0);
        }

        @Override
        public Verdict put(Asked asked, Reading answer) {
            return takenIf(answer.isSuccess() && answer.hasReply());
        }
    },
    /** NVIDIA's fork of aws-c-s3; its first request of an object is for part number 1. */
    AWS_C_S3(Form.AMZ, Ranges.SOMETIMES) {
        @Override
        public Verdict get(Asked asked, Reading answer) {
            if (!answer.isSuccess()) {
                return Verdict.FAILS;
            }
            return answer.hasReply() && !answer.isReply(501)
                    ? takenIf(answer.moved() >= 0)
                    : Verdict.TAKES_BODY;
        }

        @Override
        public Verdict put(Asked asked, Reading answer) {
            if (answer.isSuccess() && answer.isReply(501)) {
                return Verdict.ASKS_AGAIN;
            }
            return takenIf(answer.isSuccess() && answer.hasReply());
        }
    },
    /** NooBaa's tools want both headers, of uploads too. */
    NOOBAA(Form.AMZ, Ranges.SOMETIMES) {
        @Override
        public Verdict get(Asked asked, Reading answer) {
            return takenIf(answer.isSuccess()
                    && (answer.isReply(200) || answer.isReply(204) || answer.isReply(206))
                    && answer.moved() >= 0);
        }

        @Override
        public Verdict put(Asked asked, Reading answer) {
            return get(asked, answer);
        }
    },
    /** versitygw's tools, by its three legacy headers. */
    VERSITY(Form.CUOBJ, Ranges.NEVER) {
        @Override
        public Verdict get(Asked asked, Reading answer) {
            return takenIf(answer.isSuccess() && answer.hasReply()
                    && answer.moved() == asked.bytes());
        }

        @Override
        public Verdict put(Asked asked, Reading answer) {
            return get(asked, answer);
        }
    };

    /** By which headers a client offers its memory. */
    public enum Form {
        AMZ,
        AMZ_SUFFIXED,
        RDMA_INFO,
        CUOBJ
    }

    enum Ranges {
        ALWAYS,
        SOMETIMES,
        NEVER
    }

    /** What a client does next. */
    public enum Verdict {
        /** It takes its memory for the object, or the object for stored. */
        TAKES_MEMORY,
        /** It takes the answer's body for the object. */
        TAKES_BODY,
        /** It asks again, without a token. */
        ASKS_AGAIN,
        /** It reports an error. */
        FAILS
    }

    /**
     * What a client knows when it asks.
     *
     * @param bytes that it means to read or to store
     */
    public record Asked(long bytes) {}

    /** An answer as clients look at it. */
    public record Reading(HttpResponse<byte[]> answer) {
        private static final Pattern RANGE = Pattern.compile("bytes \\d+-\\d+/\\d+");

        int status() {
            return answer.statusCode();
        }

        boolean isSuccess() {
            return status() / 100 == 2;
        }

        public boolean hasReply() {
            return reply().isPresent();
        }

        boolean isReply(int code) {
            return reply().filter(Integer.toString(code)::equals).isPresent();
        }

        private Optional<String> reply() {
            return answer.headers().firstValue("x-amz-rdma-reply");
        }

        /** Bytes by RDMA as the answer says, or -1. */
        long moved() {
            return answer.headers().firstValueAsLong("x-amz-rdma-bytes-transferred").orElse(-1);
        }

        boolean hasContentRange() {
            return answer.headers()
                    .firstValue("content-range")
                    .filter(value -> RANGE.matcher(value).matches())
                    .isPresent();
        }

        boolean hasEtag() {
            return answer.headers().firstValue("etag").filter(etag -> !etag.isEmpty()).isPresent();
        }

        long bodyBytes() {
            return answer.body().length;
        }
    }

    private final Form form;
    private final Ranges ranges;

    RdmaClients(Form form, Ranges ranges) {
        this.form = form;
        this.ranges = ranges;
    }

    public abstract Verdict get(Asked asked, Reading answer);

    public abstract Verdict put(Asked asked, Reading answer);

    /** Whether it would have sent this. */
    public boolean sends(Form asked, boolean ranged) {
        return form == asked && switch (ranges) {
            case ALWAYS -> ranged;
            case SOMETIMES -> true;
            case NEVER -> !ranged;
        };
    }

    private static Verdict takenIf(boolean good) {
        return good ? Verdict.TAKES_MEMORY : Verdict.FAILS;
    }

    private static Verdict storedIfEtag(Reading answer) {
        return takenIf(answer.status() == 200 && answer.hasEtag());
    }

    private static Verdict declinedOr(Reading answer, Verdict otherwise) {
        return answer.isReply(501) ? Verdict.ASKS_AGAIN : otherwise;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
