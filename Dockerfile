# Packages come from npm, Bun among them, so the only base image is Node's.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY tools ./tools
RUN node tools/install.mjs
COPY . .
RUN mkdir -p dist \
 && node tools/console-build.mjs \
 && node tools/server-build.mjs \
 && rm -rf node_modules \
 && node tools/install.mjs --production

FROM node:24-slim
WORKDIR /app
ENV NODE_ENV=production DATA_DIR=/data
COPY --from=build --chown=node:node /app/package.json /app/package-lock.json ./
COPY --from=build --chown=node:node /app/node_modules ./node_modules
COPY --from=build --chown=node:node /app/contract ./contract
COPY --from=build --chown=node:node /app/server ./server
COPY --from=build --chown=node:node /app/tools ./tools
COPY --from=build --chown=node:node /app/dist ./dist
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD node -e "fetch('http://127.0.0.1:' + (process.env.PORT ?? 3000) + '/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"
CMD ["node", "tools/bun.mjs", "dist/main.js"]
