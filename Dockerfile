# The service without its embedded database; compose.yaml puts PostgreSQL and Redis beside it.
# The same by hand: docs/INSTALL.md, "Packages and containers".

FROM node:24.21.0-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY bin bin
COPY cli cli
COPY client/src client/src
COPY client/README.md client/
COPY client/python/README.md client/python/
COPY client/examples client/examples
COPY docs docs
COPY migrations migrations
COPY src src
COPY templates templates
COPY web web
RUN npm run prepack

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    DATA_DIR=/data
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts \
    && npm cache clean --force \
    && mkdir /data \
    && chown node:node /data
COPY --from=build /build/bin bin
COPY --from=build /build/dist dist
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
    CMD ["node", "-e", "fetch('http://127.0.0.1:8080/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=32", "--no-allocation-site-pretenuring", "bin/scripdesk.js"]
CMD ["serve"]
