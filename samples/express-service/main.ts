/**
 * `npm run sample:express-service`: a service in which users ask an agent that has tools of an MCP server. With
 * ANTHROPIC_API_KEY or OPENAI_API_KEY it asks that model, else a script stands in for one. PORT, ANSWER_TIMEOUT (ms), GRACE
 * (ms) and WEATHER_URL can be set.
 */
import 'reflect-metadata';
import { container } from 'tsyringe';
import { SessionRegistry } from 'mcp-toolset';
import { Agent } from './agent';
import { chooseAgent } from './choose-agent';
import { Service } from './service';
import { Settings } from './settings';
import { ShopServer } from './shop/shop-server';

const number = (value: string | undefined): number | undefined => (value ? Number(value) : undefined);

async function main({ env }: NodeJS.Process): Promise<void> {
  const shop = await ShopServer.start();
  const agent = chooseAgent(env);
  container.registerInstance(Agent, agent);
  container.registerInstance(
    Settings,
    new Settings({
      shopUrl: shop.url,
      weatherUrl: env.WEATHER_URL,
      answerTimeout: number(env.ANSWER_TIMEOUT),
      grace: number(env.GRACE),
    }),
  );
  const service = await Service.start(container, number(env.PORT) ?? 3000).catch(async (error: unknown) => {
    await shop.stop(); // or the process would not end
    throw error;
  });
  console.log(`Ask at ${service.url} (model: ${agent.model}; shop: ${shop.url})`);

  const stop = async (signal: string): Promise<void> => {
    console.log(`${signal}: stopping`);
    await service.stop();
    await shop.stop();
    console.log(`Stopped. ${container.resolve(SessionRegistry).size} sessions are open.`);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      stop(signal).catch((error: unknown) => {
        console.error(error);
        process.exitCode = 1;
      });
    });
  }
}

main(process).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
