# The image contains one file: the executable, with the runtime, the server and the console inside. Packages come from
# npm, Bun among them.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY tools ./tools
RUN node tools/install.mjs
COPY . .
RUN node tools/executable.mjs && mv dist/executables/tollgate-linux-* /tollgate

FROM debian:bookworm-slim
RUN useradd --uid 1000 --user-group --no-create-home --home-dir /data --shell /usr/sbin/nologin tollgate \
 && mkdir /data && chown tollgate:tollgate /data
COPY --from=build --chmod=755 /tollgate /usr/local/bin/tollgate
# The runtime reads the variables of the last two lines before it starts; docs/install.md explains them. With the
# first, the executable does not have to start itself again, so there is one process.
ENV DATA_DIR=/data PORT=3000 \
    BUN_CONFIG_MAX_HTTP_REQUESTS=65535 BUN_FEATURE_FLAG_EXPERIMENTAL_HTTP2_CLIENT=1 \
    BUN_JSC_heapGrowthFunctionThresholdInMB=0 BUN_JSC_heapGrowthMaxIncrease=0.3 \
    BUN_JSC_largeHeapSize=67108864 BUN_JSC_forceCodeBlockLiveness=1
USER tollgate
WORKDIR /data
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=4s --start-period=20s CMD ["tollgate", "healthcheck"]
CMD ["tollgate"]
